"""Robust location, scale and smoothing, and the tail of Student's distribution without scipy."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.numbers import TO_SIGMA
from rlclinic.model.series import FloatArray
from rlclinic.signals._shapes import Centre

TRIM = 0.2
"""Share left out at each end of a robust mean: nearly as precise as the mean, and 20% outliers do nothing."""

FEW = 2000
"""Values that are sorted sooner than numpy's median has found their middle."""


def location(y: FloatArray, centre: Centre = "robust") -> float:
    """The middle of values; NaN for none."""
    if y.size == 0:
        return math.nan
    cut = int(y.size * TRIM) if centre == "robust" else 0
    if cut == 0:
        return median(y) if centre == "robust" and y.size < 5 else mean(y)
    ordered = y.copy()
    ordered.sort()
    return mean(ordered[cut : y.size - cut])


def mean(y: FloatArray) -> float:
    """The mean; numpy's own looks at its arguments longer than at a few hundred values."""
    return float(np.add.reduce(y)) / y.size if y.size else math.nan


def median(y: FloatArray) -> float:
    """The middle value; a plain sort is several times faster than numpy's median on a few hundred values."""
    if y.size > FEW:
        return float(np.median(y))
    ordered = y.copy()
    ordered.sort()
    # Not a number is sorted to the end.
    if not y.size or ordered[-1] != ordered[-1]:
        return math.nan
    return float(ordered[(y.size - 1) // 2] + ordered[y.size // 2]) / 2.0


def quantile(y: FloatArray, share: float) -> float:
    """The value below which a share of the values lies, as numpy interpolates it, in a tenth of its time."""
    if y.size > FEW:
        return float(np.quantile(y, share))
    ordered = y.copy()
    ordered.sort()
    return quantile_of_sorted(ordered, share)


def quantile_of_sorted(ordered: FloatArray, share: float) -> float:
    """The same of values in their order; not a number is the last."""
    last = ordered.size - 1
    if last < 0 or ordered[last] != ordered[last]:
        return math.nan
    below = int(share * last)
    low, high, part = float(ordered[below]), float(ordered[min(below + 1, last)]), share * last - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1.0 - part)


def robust_scale(y: FloatArray) -> float:
    """Standard deviation of the bulk.

    Where more than half of the values are the same the bulk has none, and the mean deviation takes its place.
    """
    if y.size == 0:
        return 0.0
    deviations = np.abs(y - median(y))
    bulk = median(deviations) * TO_SIGMA
    return bulk if bulk > 0.0 else mean(deviations) * math.sqrt(math.pi / 2.0)


def smooth(y: FloatArray, window: int) -> FloatArray:
    """Running mean after single outliers are taken out."""
    n = int(y.size)
    if n < 3 or window < 2:
        return y
    return running_mean(running_median(y, 3), window)


def running_median(y: FloatArray, window: int) -> FloatArray:
    """Middle of the `window` points around each point, an odd number; the ends are mirrored."""
    width = min(window, y.size - 1 + y.size % 2)
    if width < 3:
        return y
    reach = width // 2
    padded = np.concatenate((y[reach:0:-1], y, y[-2 : -reach - 2 : -1]))
    windows = padded[_windows(int(y.size), width)]
    windows.sort(axis=1)
    middle: FloatArray = windows[:, width // 2]
    return middle


@lru_cache(maxsize=64)
def _windows(n: int, width: int) -> NDArray[np.intp]:
    """Places of the points in each window."""
    return np.arange(n)[:, None] + np.arange(width)


def running_mean(y: FloatArray, window: int) -> FloatArray:
    """Mean of the `window` points around each point; at the ends, of the first and last `window` points."""
    n = int(y.size)
    window = min(window, n)
    sums = np.concatenate(([0.0], np.cumsum(y)))
    start = np.clip(np.arange(n) - window // 2, 0, n - window)
    mean: FloatArray = (sums[start + window] - sums[start]) / window
    return mean


def average_ranks(y: FloatArray) -> FloatArray:
    """Ranks in -1..1 around zero, the same for equal values."""
    _, which, counts = np.unique(y, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2.0
    ranks: FloatArray = (2.0 * middle[which] - (y.size - 1)) / y.size
    return ranks


def two_sided(t: float, dof: float) -> float:
    """Probability that Student's t is at least this far from zero (Wallace 1959, slightly cautious)."""
    return math.erfc(_as_normal(abs(t), dof) / math.sqrt(2.0))


def t_quantile(confidence: float, dof: float) -> float:
    """How far from zero Student's t stays with a probability; the inverse of `two_sided`."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0) * (8.0 * dof + 3.0) / (8.0 * dof + 1.0)
    return math.sqrt(dof * math.expm1(z * z / dof))


def below(t: float, dof: float) -> float:
    """Probability that Student's t is below a value."""
    tail = two_sided(t, dof) / 2.0
    return 1.0 - tail if t > 0 else tail


def _as_normal(t: float, dof: float) -> float:
    if t > 1e150:
        return math.sqrt(2.0 * dof * math.log(t)) if dof < 1e6 else t
    return math.sqrt(dof * math.log1p(t * t / dof)) * (8.0 * dof + 1.0) / (8.0 * dof + 3.0)
