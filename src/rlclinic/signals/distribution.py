"""The shape of a set of values such as episode returns: two separate groups."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import median
from rlclinic.signals._scale import bounded, power_of_two, ratio
from rlclinic.signals._shapes import Data, points

LEAST = 8
"""Points below which a shape is a matter of luck."""
SAMPLE = 20_000
"""Points that are looked at, evenly spread: shares are then off by half a percent at most."""
CELLS = 128
"""Cells of the histogram from which the valley between two groups is read."""
FEW_VALUES = 200
"""With at most this many distinct values their spacing, not their scatter, sets how far the histogram is smoothed."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The best split into two groups (which always exists: judge it by its valley)."""

    n: int
    enough: bool
    lower: float = math.nan
    """Mean of the lower group."""
    upper: float = math.nan
    lower_share: float = math.nan
    """Share of the points in the lower group."""
    separation: float = math.nan
    """Distance of the group means in standard deviations within a group (Ashman's D; a normal has 2.6)."""
    valley: float = math.nan
    """Density between the groups over that of the less dense group's peak: 1 is one hump, 0 two islands."""


def distribution(data: Data) -> Distribution:
    """Describe the values."""
    _, values = points(data)
    n = int(values.size)
    if n > SAMPLE:
        values = values[np.arange(SAMPLE) * n // SAMPLE]
    values = np.sort(values)
    if n < LEAST:
        return Distribution(n, enough=False)
    unit = power_of_two(values)
    base = float(values[0]) / unit
    width = float(values[-1]) / unit - base
    y = (values / unit - base) / (width or 1.0)
    starts = np.concatenate(([0], np.flatnonzero(values[1:] > values[:-1]) + 1))
    groups = _groups(y) if width > 0.0 else ONE_VALUE

    def restored(value: float) -> float:
        return bounded((base + value * width) * unit)

    return Distribution(
        n=n,
        enough=True,
        lower=restored(groups.lower),
        upper=restored(groups.upper),
        lower_share=groups.share,
        separation=groups.separation,
        valley=_valley(y, y[starts], groups.size) if width > 0.0 else math.nan,
    )


@dataclass(frozen=True, slots=True)
class Groups:
    """The best split of sorted values into two."""

    size: int
    """Values in the lower group."""
    lower: float
    upper: float
    share: float
    separation: float


ONE_VALUE = Groups(0, 0.0, 0.0, math.nan, math.nan)


def _groups(y: FloatArray) -> Groups:
    """The split of sorted values, which run from 0 to 1, that leaves the least variance within (Otsu)."""
    n = int(y.size)
    sizes = np.arange(1, n)
    between = np.cumsum(y - y.mean())[:-1] ** 2 / (sizes * (n - sizes))
    between[y[1:] == y[:-1]] = -1.0
    at = int(np.argmax(between)) + 1
    low, high = y[:at], y[at:]
    within = math.sqrt((float(low.var()) + float(high.var())) / 2.0)
    distance = float(high.mean() - low.mean())
    return Groups(
        size=at,
        lower=float(low.mean()),
        upper=float(high.mean()),
        share=at / n,
        separation=distance / within if within > 0.0 else math.inf,
    )


def _valley(y: FloatArray, distinct: FloatArray, at: int) -> float:
    """Least density between the two groups over the lower of their peaks."""
    n = int(y.size)
    inner = math.sqrt((float(y[:at].var()) * at + float(y[at:].var()) * (n - at)) / n)
    smoothing = inner * float(n) ** -0.2
    if distinct.size <= FEW_VALUES and distinct.size > 2:
        smoothing = max(smoothing, 0.7 * median(np.diff(distinct)))
    lower, upper = float(y[:at].mean()), float(y[at:].mean())
    if smoothing <= 0.0:
        return 0.0
    start, stop = float(y[0]) - smoothing, float(y[-1]) + smoothing
    width = (stop - start) / CELLS
    density = _smoothed(np.histogram(y, CELLS, (start, stop))[0].astype(np.float64), smoothing / width)
    middle = int(((lower + upper) / 2.0 - start) / width)
    left, right = int(np.argmax(density[: middle + 1])), middle + int(np.argmax(density[middle:]))
    peaks = float(min(density[left], density[right]))
    valley = float(density[left : right + 1].min())
    return min(1.0, ratio(valley, peaks))


def _smoothed(counts: FloatArray, deviation: float) -> FloatArray:
    reach = int(min(math.ceil(3.0 * deviation), CELLS))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(deviation, 1e-9)) ** 2)
    smoothed: FloatArray = np.convolve(
        counts, kernel / kernel.sum(), mode="same" if 2 * reach + 1 <= counts.size else "full"
    )
    return smoothed[reach : reach + counts.size] if smoothed.size > counts.size else smoothed
