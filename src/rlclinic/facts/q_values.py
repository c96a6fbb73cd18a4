"""Q values as logged, and the largest discounted return that the observed returns allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rlclinic.facts.exploration import action_dimensions
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._robust import median

# Algorithms whose actor loss is minus the mean Q of the policy's actions (SAC: plus alpha times log pi).
ACTOR_LOSS_IS_Q = frozenset({"SAC", "TD3", "DDPG", "TQC", "REDQ", "CROSSQ", "DROQ"})
# Discount where the config does not tell: the default of nearly all frameworks.
USUAL_GAMMA = 0.99
# Rewards count as the same at every step when return per step varies less than this while lengths vary.
SAME_RATE = 0.1
LENGTHS_VARY = 1.3
# Action dimensions assumed where the config does not tell; each adds at most ln 2 nats on [-1, 1].
MANY_DIMENSIONS = 20.0
RETURNS = ("return/train", "return/eval", "return/train_max", "return/train_min")


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on the size of a discounted return."""

    value: float
    gamma: float
    gamma_known: bool
    note: str


def q_series(facts: RunFacts) -> Series | None:
    """Mean Q as logged, or read off the actor loss where that is minus Q."""
    for name in ("q/mean", "q1/mean"):
        found = facts.series(name)
        if found is not None:
            return found
    loss = facts.series("policy_loss")
    if loss is None or facts.run.algorithm.upper() not in ACTOR_LOSS_IS_Q:
        return None
    return replace(loss, values=-loss.values)


def rewards_rescaled(facts: RunFacts) -> bool:
    """Whether the learner sees other rewards than those that the returns are made of."""
    config = facts.run.config
    scale = facts.setting("reward_scale")
    return bool(config.get("normalize_reward")) or (scale is not None and scale != 1.0)


def q_bound(facts: RunFacts) -> Bound | None:
    """The largest size of a discounted return that fits the returns seen; None where no return tells.

    A return may come in one burst, or evenly at each step and go on beyond the time limit. The larger of the two
    counts, unless return per step is the same whatever the length: then rewards are even.
    """
    largest = max(_sizes(facts), default=None)
    if largest is None or rewards_rescaled(facts):
        return None
    gamma = facts.setting("gamma")
    known = gamma is not None
    discount = min(max(gamma if gamma is not None else USUAL_GAMMA, 0.0), 0.99999)
    horizon = 1.0 / (1.0 - discount)
    rates = _rates(facts)
    bonus = _entropy_bonus(facts) * horizon
    if rates is None:
        return Bound(largest * horizon + bonus, discount, known, "largest return each step for ever")
    even = float(np.max(np.abs(rates.values))) * horizon
    if rates.constant:
        return Bound(even + bonus, discount, known, "return per step over 1 - gamma")
    return Bound(
        max(largest, even) + bonus, discount, known, "larger of the best return and return per step / (1 - gamma)"
    )


@dataclass(frozen=True, slots=True)
class _Rates:
    values: FloatArray
    constant: bool


def _sizes(facts: RunFacts) -> Iterator[float]:
    for name in RETURNS:
        series = facts.series(name)
        if series is not None:
            yield float(np.nanmax(np.abs(series.values[np.isfinite(series.values)])))
    if facts.run.episodes is not None and len(facts.run.episodes):
        yield float(np.max(np.abs(facts.run.episodes.returns)))


def _rates(facts: RunFacts) -> _Rates | None:
    """Return per env step, point by point where both were logged together."""
    for suffix, length_name in (("train", "episode_length"), ("eval", "episode_length/eval")):
        returns, lengths = facts.series(f"return/{suffix}"), facts.series(length_name)
        if returns is None or lengths is None:
            continue
        _, mine, theirs = np.intersect1d(returns.steps, lengths.steps, return_indices=True)
        taken, counted = returns.values[mine], lengths.values[theirs]
        sound = np.isfinite(taken) & np.isfinite(counted) & (counted > 0)
        if int(sound.sum()) < 2:
            continue
        values = taken[sound] / counted[sound]
        varies = float(counted[sound].max() / counted[sound].min()) > LENGTHS_VARY
        middle = median(np.abs(values))
        return _Rates(values, varies and float(np.ptp(values)) < SAME_RATE * middle)
    return None


def _entropy_bonus(facts: RunFacts) -> float:
    """What a soft Q adds per step: alpha times at most ln 2 per action dimension."""
    late = facts.late("alpha", 0.3)
    if late is None:
        return 0.0
    dimensions = action_dimensions(facts) or MANY_DIMENSIONS
    return late.value * dimensions * float(np.log(2.0)) * (positive(facts, "frame_skip") or 1.0)
