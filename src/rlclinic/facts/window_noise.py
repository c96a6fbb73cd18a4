"""The sampling noise of a return that is logged as a mean over the last 100 episodes.

Neighbouring points of such a mean share most of their episodes, so that it looks smooth and yet wanders by far more
than its points scatter. A mean over the last k episodes, m of which are new since the last point, changes by
s * sqrt(m) / k while the window fills and by s * sqrt(2 m) / k once it is full, where s is the standard deviation of
single episodes. That gives s, and the noise of the mean is s / sqrt(k).
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import TO_SIGMA
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._robust import median

# Episodes behind a windowed return, by the convention of nearly every framework.
WINDOW_EPISODES = 100
# Points below which differences between neighbours do not tell their noise.
FEWEST_POINTS = 6
# Share of the run that is its beginning.
BEGINNING = 0.2
# New episodes between two points below which they are one and the same.
SAME_POINT = 1e-3


@dataclass(frozen=True, slots=True)
class WindowNoise:
    """What a mean over the last episodes rests on."""

    noise: float
    first_episodes: float
    """Episodes in the mean at the end of the first fifth."""
    start_noise: float
    """Noise of the first point, which rests on fewer episodes."""
    windows: float
    """How many such means without a shared episode the run has."""


def window_noise(series: Series, lengths: Series | None) -> WindowNoise | None:
    """Infer the noise from how much one point differs from the next; None where episodes cannot be counted."""
    if not is_windowed(series) or lengths is None or lengths.axis != "env_steps" or series.axis != "env_steps":
        return None
    finite = np.isfinite(series.values)
    steps, values = series.steps[finite], series.values[finite]
    known = np.isfinite(lengths.values) & (lengths.values > 0)
    if steps.size < FEWEST_POINTS or not known.any():
        return None
    length = np.interp(steps, lengths.steps[known], lengths.values[known])
    new = np.diff(steps) / length[1:]
    held = np.clip(np.cumsum(new) + steps[0] / length[0], 1.0, WINDOW_EPISODES)
    apart = new > SAME_POINT
    if int(apart.sum()) < FEWEST_POINTS - 1:
        return None
    changes = np.diff(values)[apart] * _per_episode(new[apart], held[apart])
    # Where episodes are longer than the distance of points, most changes are zero and only their mean square tells.
    single = robust_spread(changes) if median(new[apart]) >= 1.0 else float(changes.std())
    start = max(float(steps[0] / length[0]), 1.0)
    return WindowNoise(
        noise=single / math.sqrt(float(held[-1])),
        first_episodes=float(held[int(BEGINNING * held.size)]),
        start_noise=single / math.sqrt(min(start, WINDOW_EPISODES)),
        windows=float(new.sum() + start) / WINDOW_EPISODES,
    )


def deviation(values: FloatArray) -> float:
    """Standard deviation by the median absolute one; 0 where more than half of the values are the same."""
    return TO_SIGMA * median(np.abs(values - median(values)))


def robust_spread(residuals: FloatArray) -> float:
    """Robust scatter; of residuals that are mostly equal (rare successes) the plain one."""
    if not residuals.size:
        return 0.0
    scatter = deviation(residuals)
    return scatter if scatter > 0 else float(residuals.std())


def is_windowed(series: Series) -> bool:
    """Whether each point is a mean over the last so many episodes."""
    return "last" in series.window and "episodes" in series.window


def repeats_itself(series: Series) -> bool:
    """Whether each point is a mean over past episodes, which stays what it is while none ends."""
    return "episodes" in series.window and "single" not in series.window


def _per_episode(new: FloatArray, held: FloatArray) -> FloatArray:
    """What turns a change of the mean into one of a single episode's size."""
    filling = held < WINDOW_EPISODES
    factor = np.where(filling, held / np.sqrt(new), held / np.sqrt(2.0 * new))
    return np.where(new >= held, np.sqrt(held / 2.0), factor)
