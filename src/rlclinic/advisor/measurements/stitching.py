"""What recorded pieces would earn if they were joined: value iteration over steps that lead near each other.

A step may be followed by any recorded step that starts within the usual length of a step from where it led. Joins that
no dynamics allow would earn too much, so joins half as long are tried too and the smaller gain counts.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from rlclinic.advisor.measurements.neighbours import projected
from rlclinic.facts.environment.regression import encoded
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import IntArray, Transitions

MOST_STEPS = 6000
LONGEST = 400
"""Sweeps: steps of a joined episode."""
JOINS = 8
STARTS = 5
"""Episodes with the nearest starts, whose best is what the data reach from there."""
ALIKE = 3.0
"""Steps within which two starts are alike."""
GAMMA = 0.99


def stitching_gain(steps: Transitions) -> float | None:
    """Mean gain of joined pieces over the best episode that starts alike, in ranges of the returns; None if unknown."""
    rows = np.flatnonzero(np.isin(steps.episodes, _some_episodes(steps)))
    steps = steps.chosen(rows)
    starts = np.flatnonzero(~steps.follows)
    if len(starts) < 4 or not np.isfinite(steps.observations).all():
        return None
    own = _returns(steps, starts)
    if np.ptp(own) <= 0:
        return 0.0
    both = projected(encoded(steps.observation_space, np.concatenate([steps.observations, steps.next_observations])))
    here, there = both[: len(steps)], both[len(steps) :]
    usual = float(np.median(np.linalg.norm(there - here, axis=1)))
    near, alike = cKDTree(here[starts]).query(here[starts], k=min(STARTS, len(starts)))
    reached = np.where(near <= ALIKE * usual, own[np.minimum(alike, len(own) - 1)], own[:, None]).max(axis=1)
    gains = [
        float(np.maximum(_joined(steps, here, there, reach)[starts] - reached, 0.0).mean() / np.ptp(own))
        for reach in (usual, usual / 2.0)
    ]
    return min(gains)


def _joined(steps: Transitions, here: FloatArray, there: FloatArray, reach: float) -> FloatArray:
    """The value of every step where each may be followed by any that starts near."""
    count = len(steps)
    far, at = cKDTree(here).query(there, k=min(JOINS, count), distance_upper_bound=reach)
    goes_on = np.append(steps.follows[1:], values=False)
    own = np.where(goes_on, np.arange(1, count + 1), count)
    after = np.concatenate([np.where(np.isfinite(far), at, count), own[:, None]], axis=1)
    # What leads nowhere earns the worst from there on, or an early end would be a way out of a costly task.
    worst = min(float(steps.rewards.min()), 0.0)
    value = np.zeros(count + 1)
    # Two pieces take longer than one, unless a time limit ends them.
    longest = (int(steps.times.max()) + 1) * (1 if steps.truncated.any() else 2)
    for sweep in range(min(LONGEST, longest)):
        value[count] = worst * (1.0 - GAMMA**sweep) / (1.0 - GAMMA)
        best = value[after].max(axis=1)
        value[:count] = steps.rewards + GAMMA * np.where(steps.terminated, 0.0, best)
    return value[:count]


def _returns(steps: Transitions, starts: IntArray) -> FloatArray:
    """Discounted returns from the first steps."""
    ends = np.append(starts[1:], len(steps))
    return np.array([float(steps.rewards[a:b] @ GAMMA ** np.arange(b - a)) for a, b in zip(starts, ends, strict=True)])


def _some_episodes(steps: Transitions) -> IntArray:
    """Whole episodes, evenly over their returns, as many as are tried."""
    names, counts = np.unique(steps.episodes, return_counts=True)
    totals = np.add.reduceat(steps.rewards[np.argsort(steps.episodes, kind="stable")], np.cumsum(counts) - counts)
    order = np.argsort(totals, kind="stable")
    share = min(1.0, MOST_STEPS / max(len(steps), 1))
    kept = order[np.unique(np.linspace(0, len(names) - 1, max(4, int(share * len(names)))).astype(int))]
    chosen: IntArray = names[kept]
    return chosen
