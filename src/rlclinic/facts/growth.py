"""How far the size of a metric grew over a run, and whether it did so steadily."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rlclinic.facts.run_facts import WindowLevel, window_level
from rlclinic.facts.stretch import rounding
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series

# Windows, as shares of the points. The first points are left out of the early one: networks start at random.
EARLY = (0.05, 0.2)
LATE = (0.9, 1.0)
FEWEST_POINTS = 12
# Points whose ranks tell whether a growth is steady; longer series are averaged down to them.
RANKED = 500


@dataclass(frozen=True, slots=True)
class Growth:
    """The size (absolute value) of a series early and late."""

    early: WindowLevel
    late: WindowLevel
    factor: float
    """Late over early."""
    steadiness: float
    """Rank correlation of the size with time over the whole run: 1 for one that only grows."""
    onset_step: float
    """From where on the size stays above the geometric middle of early and late."""


@lru_cache(maxsize=64)
def growth(series: Series | None) -> Growth | None:
    """Compare the late size of a series with its early one; None where it is too short or was zero early."""
    if series is None:
        return None
    finite = np.isfinite(series.values)
    sizes, steps = np.abs(series.values[finite]), series.steps[finite]
    if sizes.size < FEWEST_POINTS:
        return None
    early, late = window_level(sizes, steps, *EARLY), window_level(sizes, steps, *LATE)
    if early is None or late is None:
        return None
    base = max(early.value, rounding(series))
    if base <= 0:
        return None
    onset = _onset(sizes, steps, float(np.sqrt(base) * np.sqrt(max(late.value, base))))
    return Growth(early, late, late.value / base, _rank_correlation(sizes), onset)


def _onset(sizes: FloatArray, steps: FloatArray, bar: float) -> float:
    below = np.flatnonzero(sizes < bar)
    return float(steps[min(int(below[-1]) + 1, steps.size - 1)] if below.size else steps[0])


def _rank_correlation(sizes: FloatArray) -> float:
    """Spearman's correlation with time; 0 for a constant."""
    if sizes.size > RANKED:
        edges = np.arange(RANKED) * sizes.size // RANKED
        sizes = np.add.reduceat(sizes, edges) / np.diff(edges, append=sizes.size)
    if not np.ptp(sizes):
        return 0.0
    # Where stands, in time, what has each rank: both run over the same whole numbers, so their distances tell all.
    n, apart = int(sizes.size), np.argsort(sizes, kind="stable") - np.arange(sizes.size)
    return 1.0 - 6.0 * float(apart @ apart) / (n * (n * n - 1.0))
