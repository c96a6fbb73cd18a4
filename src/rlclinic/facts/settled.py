"""A training return without its first points, which know only the shortest episodes.

Many environments that begin together finish their shortest episodes first. Where short means success (a goal is
reached) or failure (a fall), the first means are far above or below what the policy gets, and a run that never moved
seems to have fallen or climbed. Once every environment had the time for two whole episodes, and most of the steps
belong to episodes that ended, the bias is gone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlclinic.model.run import Run
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._bins import bin_means

EPISODES = 2.0
# Times the steps so far within which later lengths tell how long episodes are.
AHEAD = 3.0
# Share of the steps so far that ended episodes must make up: the others are of longer ones, still under way.
ENDED = 0.5
# Points that are left out at the most, as a share: a start that takes longer belongs to the course.
LONGEST = 0.25
FEWEST_POINTS = 8
BINS = 100


def settled(run: Run) -> Series | None:
    """The return that says how well the agent does, from where all lengths of episodes are in it."""
    series, lengths, environments = run.returns, run.series.get("episode_length"), _environments(run)
    ended = run.series.get("episodes")
    if series is None or series.name != "return/train" or lengths is None or (environments <= 1.0 and ended is None):
        return series
    known = np.isfinite(lengths.values) & (lengths.values > 0.0)
    if series.axis != "env_steps" or lengths.axis != "env_steps" or not known.any():
        return series
    at, means = _binned(lengths.steps[known]), _binned(lengths.values[known])
    early = series.steps[: int(LONGEST * len(series)) + 1, None]
    # The lengths of the first moments are those of the shortest episodes as well.
    length = np.where((at >= early) & (at <= AHEAD * early), means, 0.0).max(axis=1)
    ready = (early[:, 0] >= EPISODES * environments * length) | (environments <= 1.0)
    if ended is not None and ended.axis == "env_steps":
        shown = np.interp(early[:, 0], lengths.steps[known], lengths.values[known])
        ready &= np.interp(early[:, 0], ended.steps, ended.values) * shown >= ENDED * early[:, 0]
    first = int(np.argmax(ready)) if ready.any() else 0
    if first == 0 or len(series) - first < FEWEST_POINTS:
        return series
    times = series.wall_times[first:] if series.wall_times is not None else None
    return replace(series, steps=series.steps[first:], values=series.values[first:], wall_times=times)


def _binned(values: FloatArray) -> FloatArray:
    """Means of parts, so that single episodes do not count."""
    return bin_means(values, min(BINS, values.size))


def _environments(run: Run) -> float:
    """Environments that run side by side, from the config or as the two counters of steps tell."""
    told, counter = run.config.number("n_envs"), run.series.get("vec_steps")
    if told is not None or counter is None or counter.last is None or counter.last <= 0.0:
        return told or 1.0
    return float(counter.steps[-1]) / counter.last
