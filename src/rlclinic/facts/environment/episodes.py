"""What episodes tell: how they end, how they start, what they are worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rlclinic.facts.environment.observations import FEWEST
from rlclinic.model.environment_facts import NOT_MEASURED, EpisodeFacts, ResetFacts
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import EpisodeTable, Transitions

GAMMA = 0.99
PERMUTATIONS = 5000
"""Enough for a probability that stays small after a correction for all checks."""
OFTEN = 10
FEWEST_OF_A_KIND = 8
"""Successes, and failures, whose returns are compared."""
CELLS = 6
"""Of each number of the observation, between its 1% and 99% quantiles."""
OFTEN_MOVED = 0.05
"""Share of steps in which a number changes from which on a change of it is no jump by itself."""
TIME_KNOWN = 0.999
"""Correlation with the steps taken from which on a number of the observation is a clock."""


def episode_facts(
    steps: Transitions, episodes: EpisodeTable, *, limit: int | None = None, unended: int = 0
) -> EpisodeFacts:
    """The facts that follow from the episodes and the steps."""
    lengths, returns = episodes.lengths, episodes.returns
    longest = int(lengths.max()) if len(lengths) else 0
    at_longest = lengths == longest
    cut = ~episodes.terminated
    return EpisodeFacts(
        count=len(episodes),
        terminated=int(episodes.terminated.sum()),
        truncated=int(cut.sum()),
        mean_length=float(lengths.mean()) if len(lengths) else NOT_MEASURED,
        shortest=int(lengths.min()) if len(lengths) else 0,
        longest=longest,
        at_longest=float(at_longest.mean()) if len(lengths) else 0.0,
        terminated_at_longest=float(episodes.terminated[at_longest].mean()) if len(lengths) else 0.0,
        same_last=bool(len(lengths) and np.ptp(episodes.last[at_longest], axis=0).max(initial=0.0) == 0.0),
        truncated_lengths=len(np.unique(lengths[cut])),
        truncated_before=float((lengths[cut] < longest).mean()) if cut.any() else 0.0,
        limit=limit,
        knows_time=_knows_time(steps),
        unended=unended,
        return_mean=float(returns.mean()) if len(returns) else NOT_MEASURED,
        return_std=float(returns.std()) if len(returns) else NOT_MEASURED,
        return_low=float(returns.min()) if len(returns) else NOT_MEASURED,
        return_high=float(returns.max()) if len(returns) else NOT_MEASURED,
        distinct_returns=len(np.unique(returns)),
        discounted=float(np.sqrt((episodes.discounted**2).mean())) if len(returns) else NOT_MEASURED,
        gamma=GAMMA,
        length_correlation=_correlation(returns, lengths),
        new_places=new_places(steps),
        restarts=_restarts(steps, episodes),
    )


def start_facts(episodes: EpisodeTable) -> ResetFacts:
    """What first observations tell without a running environment."""
    first, last = _pairs(episodes)
    stale = _beyond_chance(first, last) if len(first) >= 5 else NOT_MEASURED
    leak, probability = _leak(first, last)
    return ResetFacts(stale=stale, leak=leak, leak_probability=probability, same_starts=_same_starts(episodes))


def success_facts(episodes: Sequence[tuple[float, bool]]) -> tuple[float, float, float | None]:
    """Share of successes; share of the pairs in which a success returns more than a failure; the chance of so few."""
    if not episodes:
        return NOT_MEASURED, NOT_MEASURED, None
    won, lost = (np.array([total for total, success in episodes if success is wanted]) for wanted in (True, False))
    rate = len(won) / len(episodes)
    if min(len(won), len(lost)) < FEWEST_OF_A_KIND:
        return rate, NOT_MEASURED, None
    above, level = won[:, None] > lost[None, :], won[:, None] == lost[None, :]
    share = float((above + 0.5 * level).mean())
    # Mann and Whitney 1947, by the normal distribution.
    spread = math.sqrt((len(episodes) + 1) / (12.0 * len(won) * len(lost)))
    return rate, share, 0.5 * math.erfc((0.5 - share) / (spread * math.sqrt(2.0)))


def _knows_time(steps: Transitions) -> bool:
    seen, times = steps.observations, steps.times.astype(np.float64)
    if len(steps) < FEWEST or times.std() == 0 or steps.observation_space.kind == "image":
        return False
    live = np.isfinite(seen).all(axis=0) & (seen.std(axis=0) > 1e-9)
    if not live.any():
        return False
    scaled = (seen[:, live] - seen[:, live].mean(axis=0)) / seen[:, live].std(axis=0)
    correlations = np.abs(scaled.T @ (times - times.mean())) / (len(times) * times.std())
    return bool(correlations.max() > TIME_KNOWN)


def new_places(steps: Transitions) -> float:
    """How far the exploration still finds something new, by cells of the observation."""
    if choices := steps.observation_space.choices:
        reached = np.unique(np.concatenate([steps.observations, steps.next_observations]))
        return 0.0 if len(reached) == choices else NOT_MEASURED
    if steps.observation_space.kind != "box" or len(steps) < FEWEST:
        return NOT_MEASURED
    seen = steps.next_observations[np.isfinite(steps.next_observations).all(axis=1)]
    live = seen.std(axis=0) > 1e-9 if len(seen) >= FEWEST else np.zeros(0)
    if not live.any():
        return NOT_MEASURED
    low, high = np.quantile(seen[:, live], [0.01, 0.99], axis=0)
    cells = np.floor(CELLS * (seen[:, live] - low) / np.maximum(high - low, 1e-9)).clip(-1, CELLS).astype(np.int8)
    keys = np.array([row.tobytes() for row in cells])
    half = len(keys) // 2
    return float((~np.isin(keys[half:], keys[:half])).mean())


def _restarts(steps: Transitions, episodes: EpisodeTable) -> float:
    """Share of steps that jump into the set of first observations from far outside of it."""
    first = episodes.first
    if steps.observation_space.kind != "box" or len(first) < 3 or len(steps) < FEWEST:
        return NOT_MEASURED
    seen, after = steps.observations, steps.next_observations
    std = seen.std(axis=0)
    live = std > 1e-9
    if not live.any():
        return NOT_MEASURED
    low, high = first[:, live].min(axis=0), first[:, live].max(axis=0)
    slack = 0.1 * (high - low) + 1e-9
    inside = ((after[:, live] >= low - slack) & (after[:, live] <= high + slack)).all(axis=1)
    visited = ((seen[:, live] >= low - slack) & (seen[:, live] <= high + slack)).all(axis=1)
    moved = np.abs(after[:, live] - seen[:, live]) / std[live]
    # Numbers that stay in most steps, such as places in a grid, are judged by the steps in which they move.
    usual = np.array([np.median(one[one > 0]) if (one > 0).mean() > OFTEN_MOVED else 0.0 for one in moved.T]) + 1e-6
    # Where starts fill the space that is visited, a jump into them cannot be told from a step.
    if visited.mean() > 0.5:
        return NOT_MEASURED
    jumps = inside & ~visited & ~steps.ended & (np.median(moved / usual, axis=1) > 4.0) & (moved.max(axis=1) > 1.0)
    return float(jumps.mean())


def _pairs(episodes: EpisodeTable) -> tuple[FloatArray, FloatArray]:
    """First observations with the last ones of the episodes before them, in the same copy."""
    firsts, lasts = [], []
    for copy in np.unique(episodes.copies):
        own = np.flatnonzero(episodes.copies == copy)
        firsts.append(episodes.first[own[1:]])
        lasts.append(episodes.last[own[:-1]])
    width = episodes.first.shape[1] if episodes.first.ndim == 2 else 0
    empty = np.zeros((0, width))
    return np.concatenate(firsts or [empty]), np.concatenate(lasts or [empty])


def _beyond_chance(first: FloatArray, last: FloatArray) -> float:
    """Share of equal pairs, of those that are not equal to the other ends as well: a sensor at its limit is."""
    own = float((first == last).all(axis=1).mean())
    others = float(np.mean([(first == np.roll(last, by, axis=0)).all(axis=1).mean() for by in range(1, 5)]))
    return max(own - others, 0.0) / (1.0 - others) if others < 1.0 else own


def _leak(first: FloatArray, last: FloatArray) -> tuple[float, float]:
    """The largest correlation, and how often chance gives one as large."""
    sound = np.isfinite(first).all(axis=1) & np.isfinite(last).all(axis=1)
    first, last = first[sound], last[sound]
    if len(first) < 20:
        return NOT_MEASURED, NOT_MEASURED
    live = (first.std(axis=0) > 1e-9) & (last.std(axis=0) > 1e-9)
    if not live.any():
        return NOT_MEASURED, NOT_MEASURED
    a = (first[:, live] - first[:, live].mean(axis=0)) / first[:, live].std(axis=0)
    b = (last[:, live] - last[:, live].mean(axis=0)) / last[:, live].std(axis=0)
    own = float(np.abs((a * b).mean(axis=0)).max())
    rng, above, drawn = np.random.default_rng(0), 0, 0
    # Besag and Clifford 1991: what chance reaches often needs no exact probability.
    while drawn < PERMUTATIONS and above < OFTEN:
        above += float(np.abs((a[rng.permutation(len(a))] * b).mean(axis=0)).max()) >= own
        drawn += 1
    return own, (1 + above) / (1 + drawn)


def _same_starts(episodes: EpisodeTable) -> float:
    """Share of first observations that another copy has exactly too, where a copy does not repeat its own."""
    if len(np.unique(episodes.copies)) < 2 or len(episodes) < 8:
        return NOT_MEASURED
    keys = np.array([hash(row.tobytes()) for row in episodes.first])
    own = max(np.unique(keys[episodes.copies == copy], return_counts=True)[1].max() for copy in set(episodes.copies))
    if own > 2 or len(np.unique(keys)) < 4:
        # Starts come again in one copy already: few starts, not few seeds.
        return NOT_MEASURED
    _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return float((counts[places] > 1).mean())


def _correlation(a: FloatArray, b: FloatArray) -> float:
    sound = np.isfinite(a) & np.isfinite(b)
    a, b = a[sound], b[sound]
    return float(np.corrcoef(a, b)[0, 1]) if len(a) > 4 and a.std() > 0 and b.std() > 0 else NOT_MEASURED
