"""The rise along the slope of the middle pair of points."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import t_quantile

PAIRS_OF = 200
"""Points whose pairs give the slope: 20,000 slopes, a millisecond."""
CLOSE = 1e-9
"""Pairs closer than this share of the width say nothing about the slope."""


def theil_sen(x: FloatArray, y: FloatArray, effective: float) -> tuple[float, float, float]:
    """Median slope of all pairs times the width of `x`, with Sen's interval widened for correlated neighbours.

    `x` must not decrease and have two values; `effective` is how many independent points the points are worth.
    """
    if y.size > PAIRS_OF:
        edges = np.arange(PAIRS_OF) * y.size // PAIRS_OF
        counts = np.diff(edges, append=y.size)
        x, y = np.add.reduceat(x, edges) / counts, np.add.reduceat(y, edges) / counts
    n = int(y.size)
    first, second = _pairs(n)
    x = (x - x[0]) / (x[-1] - x[0])
    runs = x[second] - x[first]
    apart = runs > CLOSE
    slopes = np.sort((y[second] - y[first])[apart] / runs[apart])
    pairs = int(slopes.size)
    kendall = math.sqrt(n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * max(1.0, n / effective))
    reach = t_quantile(0.95, max(1.0, min(effective, n) - 2.0)) * kendall / 2.0
    low = slopes[max(0, math.floor(pairs / 2.0 - reach))]
    high = slopes[min(pairs - 1, math.ceil(pairs / 2.0 + reach))]
    return float(slopes[(pairs - 1) // 2] + slopes[pairs // 2]) / 2.0, float(low), float(high)


@lru_cache(maxsize=32)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    first, second = np.triu_indices(n, 1)
    return first, second
