"""Slopes of all pairs of points, of which the middle one is the slope (Theil and Sen)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import t_quantile

PAIRS_OF = 200
"""Points whose pairs give the slope: 20,000 slopes, a millisecond."""
CLOSE = 1e-9
"""Pairs closer than this share of the width say nothing about the slope."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The slopes of all pairs, sorted, each times the width of `x`."""

    n: int
    ordered: FloatArray

    @property
    def middle(self) -> float:
        """Theil and Sen's slope."""
        pairs = int(self.ordered.size)
        return float(self.ordered[(pairs - 1) // 2] + self.ordered[pairs // 2]) / 2.0

    def interval(self, effective: float) -> tuple[float, float]:
        """Sen's 95% interval, widened for points that are worth only `effective` independent ones."""
        n, pairs = self.n, int(self.ordered.size)
        kendall = math.sqrt(n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * max(1.0, n / effective))
        reach = t_quantile(0.95, max(1.0, min(effective, n) - 2.0)) * kendall / 2.0
        low = self.ordered[max(0, math.floor(pairs / 2.0 - reach))]
        high = self.ordered[min(pairs - 1, math.ceil(pairs / 2.0 + reach))]
        return float(low), float(high)


def slopes(x: FloatArray, y: FloatArray) -> Slopes:
    """Slopes of all pairs of points; `x` must not decrease and have two values."""
    if y.size > PAIRS_OF:
        edges = np.arange(PAIRS_OF) * y.size // PAIRS_OF
        counts = np.diff(edges, append=y.size)
        x, y = np.add.reduceat(x, edges) / counts, np.add.reduceat(y, edges) / counts
    n = int(y.size)
    if not x[-1] > x[0]:
        # Averaging has made one place of steps that hardly differ.
        return Slopes(n, np.zeros(1))
    first, second = _pairs(n)
    x = (x - x[0]) / (x[-1] - x[0])
    runs = x[second] - x[first]
    apart = runs > CLOSE
    return Slopes(n, np.sort((y[second] - y[first])[apart] / runs[apart]))


@lru_cache(maxsize=32)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    first, second = np.triu_indices(n, 1)
    return first, second
