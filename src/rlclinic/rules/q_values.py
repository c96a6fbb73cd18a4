"""Q values as logged, and the largest discounted return that the observed returns allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rlclinic.model.series import FloatArray, Series
from rlclinic.rules.patient import Patient
from rlclinic.rules.policy._entropy import action_dimensions
from rlclinic.rules.setting import positive

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


def q_series(patient: Patient) -> Series | None:
    """Mean Q as logged, or read off the actor loss where that is minus Q."""
    for name in ("q/mean", "q1/mean"):
        found = patient.series(name)
        if found is not None:
            return found
    loss = patient.series("policy_loss")
    if loss is None or patient.run.algorithm.upper() not in ACTOR_LOSS_IS_Q:
        return None
    return replace(loss, values=-loss.values)


def rewards_rescaled(patient: Patient) -> bool:
    """Whether the learner sees other rewards than those that the returns are made of."""
    config = patient.run.config
    scale = patient.setting("reward_scale")
    return bool(config.get("normalize_reward")) or (scale is not None and scale != 1.0)


def q_bound(patient: Patient) -> Bound | None:
    """The largest size of a discounted return that fits the returns seen; None where no return tells.

    A return may come in one burst, or evenly at each step and go on beyond the time limit. The larger of the two
    counts, unless return per step is the same whatever the length: then rewards are even.
    """
    largest = max(_sizes(patient), default=None)
    if largest is None or rewards_rescaled(patient):
        return None
    gamma = patient.setting("gamma")
    known = gamma is not None
    discount = min(max(gamma if gamma is not None else USUAL_GAMMA, 0.0), 0.99999)
    horizon = 1.0 / (1.0 - discount)
    rates = _rates(patient)
    bonus = _entropy_bonus(patient) * horizon
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


def _sizes(patient: Patient) -> Iterator[float]:
    for name in RETURNS:
        series = patient.series(name)
        if series is not None:
            yield float(np.nanmax(np.abs(series.values[np.isfinite(series.values)])))
    if patient.run.episodes is not None and len(patient.run.episodes):
        yield float(np.max(np.abs(patient.run.episodes.returns)))


def _rates(patient: Patient) -> _Rates | None:
    """Return per env step, point by point where both were logged together."""
    for suffix, length_name in (("train", "episode_length"), ("eval", "episode_length/eval")):
        returns, lengths = patient.series(f"return/{suffix}"), patient.series(length_name)
        if returns is None or lengths is None:
            continue
        _, mine, theirs = np.intersect1d(returns.steps, lengths.steps, return_indices=True)
        taken, counted = returns.values[mine], lengths.values[theirs]
        sound = np.isfinite(taken) & np.isfinite(counted) & (counted > 0)
        if int(sound.sum()) < 2:
            continue
        values = taken[sound] / counted[sound]
        varies = float(counted[sound].max() / counted[sound].min()) > LENGTHS_VARY
        middle = float(np.median(np.abs(values)))
        return _Rates(values, varies and float(np.ptp(values)) < SAME_RATE * middle)
    return None


def _entropy_bonus(patient: Patient) -> float:
    """What a soft Q adds per step: alpha times at most ln 2 per action dimension."""
    late = patient.late("alpha", 0.3)
    if late is None:
        return 0.0
    dimensions = action_dimensions(patient) or MANY_DIMENSIONS
    return late.value * dimensions * float(np.log(2.0)) * (positive(patient, "frame_skip") or 1.0)
