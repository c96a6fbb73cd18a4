"""Facts about an environment from recorded steps: those that a training was watched with, or a trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from rlclinic.facts.environment.episodes import GAMMA, episode_facts, start_facts
from rlclinic.facts.environment.observations import FEWEST, can_be_fitted, change, observation_facts
from rlclinic.facts.environment.regression import encoded, even, explained, foretold
from rlclinic.facts.environment.rewards import reward_facts
from rlclinic.facts.environment.shaping import shaping_facts
from rlclinic.model.environment_facts import NOT_MEASURED, ActionFacts, EnvironmentFacts, Source
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import BoolArray, EpisodeTable, Observed, Transitions

MOST_KNOWN = 1500
USUAL = 0.95
"""Share of the known points that have another as near."""


def facts_of(seen: Observed, source: Source) -> EnvironmentFacts:
    """Everything that the record tells."""
    steps, episodes = seen.transitions, seen.episodes
    reset = start_facts(episodes)
    action = action_facts(steps)
    unended = _unended(steps)
    worse, own = drift(steps)
    return EnvironmentFacts(
        source=source,
        environment=seen.environment,
        steps=seen.steps,
        observation=observation_facts(
            steps, not_finite=seen.not_finite, outside=seen.outside / max(len(steps), 1) if len(steps) else 0.0
        ),
        action=action,
        reward=reward_facts(steps, episodes),
        shaping=shaping_facts(steps),
        episodes=episode_facts(steps, episodes, unended=unended),
        reset=reset,
        drift=worse,
        drift_own=own,
    )


def with_observed(examined: EnvironmentFacts, seen: Observed) -> EnvironmentFacts:
    """An examination and what `Observe` saw: of each what the other lacks, and together what either met.

    What both measured counts as the examination has it: there the policies are known.
    """
    observed = facts_of(seen, "observed")
    if examined.reward is None or observed.reward is None:
        return observed if examined.reward is None and not examined.problems else examined
    found: EnvironmentFacts = _filled(examined, observed, ("drift", "drift_own"))
    sections = {name: _filled(getattr(examined, name), getattr(observed, name)) for name in ("reward", "reset")}
    one, other = examined.observation, observed.observation
    skipped = examined.skipped
    if one is not None and other is not None and one.names == other.names:
        sections["observation"] = replace(
            _filled(one, other),
            constant=tuple(index for index in one.constant if index in other.constant),
            zero=tuple(index for index in one.zero if index in other.zero),
            ranges=tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(one.ranges, other.ranges, strict=True)),
            not_finite=one.not_finite + other.not_finite,
            outside=max(one.outside, other.outside),
        )
    elif one is not None and other is not None:
        told = f"{len(other.names)} numbers of the observation in the training, {len(one.names)} here: not joined"
        skipped = (*skipped, told)
    reward, own = sections["reward"], observed.reward
    sections["reward"] = replace(
        reward, low=min(reward.low, own.low), high=max(reward.high, own.high),
        not_finite=reward.not_finite + own.not_finite,
    )  # fmt: skip
    return replace(found, **sections, observed=observed.steps, skipped=skipped)


def _filled(one: Any, other: Any, names: Sequence[str] = ()) -> Any:
    """The first with those fields of the second that it lacks."""
    if one is None or other is None:
        return one or other
    lacking = [name for name in names or [entry.name for entry in fields(one)] if _lacks(getattr(one, name))]
    return replace(one, **{name: getattr(other, name) for name in lacking})


def _lacks(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def action_facts(steps: Transitions) -> ActionFacts:
    """The action space, and how much actions add to what foretells the next observation."""
    space = steps.action_space
    gain, probability = _gain(steps)
    flat = [index for index in range(space.size) if space.low[index] == space.high[index]]
    return ActionFacts(
        kind=space.kind,
        low=tuple(float(value) for value in space.low),
        high=tuple(float(value) for value in space.high),
        degenerate=tuple(flat),
        gain=gain,
        gain_probability=probability,
    )


def drift(steps: Transitions) -> tuple[float, float]:
    """How much worse a fit to the first third foretells the last third than a fit to the last third, and that one.

    Of the last third only what lies where the first was: elsewhere an early fit knows nothing, and only the policy
    came to another part of the task.
    """
    unknown = NOT_MEASURED, NOT_MEASURED
    if not can_be_fitted(steps) or len(steps) < 4 * FEWEST:
        return unknown
    order = np.argsort(steps.clock, kind="stable")
    third = len(order) // 3
    parts = [even(np.sort(order[:third])), even(np.sort(order[-third:]))]
    seen, done = encoded(steps.observation_space, steps.observations), encoded(steps.action_space, steps.actions)
    inputs = np.concatenate([seen, done], axis=1)
    targets = change(steps)
    sound = np.isfinite(inputs).all(axis=1) & np.isfinite(targets).all(axis=1) & ~steps.ended
    early, late = (rows[sound[rows]] for rows in parts)
    if len(early) >= FEWEST and len(late):
        late = late[_among(inputs[early], inputs[late])]
    if min(len(early), len(late)) < FEWEST or steps.clock[late].min() <= steps.clock[early].max():
        return unknown
    own = explained(inputs[late], targets[late], steps.episodes[late])
    own_share = float(np.nanmean(own)) if np.isfinite(own).any() else NOT_MEASURED
    other = foretold(inputs[early], targets[early], inputs[late], targets[late])
    return own_share - max(other, -1.0), own_share


def _among(known: FloatArray, others: FloatArray) -> BoolArray:
    """Which of the others lie as near to a known point as nearly all known points do to each other."""
    spread = known.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    known, others = (
        known[np.linspace(0, len(known) - 1, min(len(known), MOST_KNOWN)).astype(int)] / scale,
        others / scale,
    )

    def apart(points: FloatArray) -> FloatArray:
        squares = (points**2).sum(axis=1)[:, None] + (known**2).sum(axis=1)[None, :] - 2.0 * points @ known.T
        distances: FloatArray = np.maximum(squares, 0.0)
        return distances

    own = apart(known)
    np.fill_diagonal(own, np.inf)
    near: BoolArray = apart(others).min(axis=1) <= np.quantile(own.min(axis=1), USUAL)
    return near


def table_of(steps: Transitions) -> EpisodeTable:
    """The whole episodes that a sequence of steps holds, from their first step to their end."""
    rows: list[tuple[float, int, bool, int, int, int, float]] = []
    start = 0
    follows = steps.follows
    for row in range(len(steps)):
        if row and not follows[row]:
            start = row
        if steps.ended[row] and steps.times[start] == 0:
            rewards = steps.rewards[start : row + 1]
            discounted = float((rewards * GAMMA ** np.arange(len(rewards))).sum())
            rows.append(
                (float(rewards.sum()), len(rewards), bool(steps.terminated[row]), start, row, int(steps.copies[row]),
                 discounted)
            )  # fmt: skip
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    first, last = np.array(columns[3], dtype=int), np.array(columns[4], dtype=int)
    return EpisodeTable(
        np.array(columns[0], dtype=np.float64),
        np.array(columns[1], dtype=np.float64),
        np.array(columns[2], dtype=bool),
        steps.observations[first],
        steps.next_observations[last],
        np.array(columns[5], dtype=np.int64),
        np.array(columns[6], dtype=np.float64),
    )


def _gain(steps: Transitions) -> tuple[float, float]:
    """What actions add, and how often shuffled actions add as much."""
    rows = np.flatnonzero(
        np.isfinite(steps.observations).all(axis=1) & np.isfinite(steps.next_observations).all(axis=1)
    )
    rows = even(rows[~steps.ended[rows]])
    if not can_be_fitted(steps) or len(rows) < FEWEST:
        return NOT_MEASURED, NOT_MEASURED
    seen, done = encoded(steps.observation_space, steps.observations)[rows], encoded(steps.action_space, steps.actions)
    done = done[rows]
    targets, groups = change(steps)[rows], steps.episodes[rows]
    if done.std() == 0 or not targets.shape[1]:
        return NOT_MEASURED, NOT_MEASURED

    def share(actions: FloatArray) -> float:
        return float(np.nanmean(explained(np.concatenate([seen, actions], axis=1), targets, groups)))

    own, rng = share(done), np.random.default_rng(0)
    drawn = [share(done[rng.permutation(len(done))]) for _ in range(4)]
    spread = max(float(np.std(drawn)), 1e-3)
    gain = own - float(np.mean(drawn))
    return gain, float(min(1.0, np.exp(-max(gain, 0.0) / spread)))


def _unended(steps: Transitions) -> int:
    """Steps of the longest episode that is not known to have ended."""
    over = set(steps.episodes[steps.ended].tolist())
    open_ones = [time for episode, time in zip(steps.episodes, steps.times, strict=True) if int(episode) not in over]
    return int(max(open_ones, default=-1)) + 1
