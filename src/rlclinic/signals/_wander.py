"""The noise of a curve as it matters for its averages: how much it wanders, and how slowly.

Logged values depend on each other, so twenty neighbouring points may carry the information of one. The model:
the curve is a smooth course (lines and jumps, see _course) plus noise whose size may change slowly and whose
neighbours correlate with phi, phi^2, phi^3 ... Fitting the course removes some of the slow noise and biases phi
downwards; the expected bias is known exactly for each phi, so phi is inferred by weighing all phi against the
correlation that was seen. Noise that mixes fast and slow parts is missed at the finest level, so the same is
done on averages of neighbouring points, and the most cautious level counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._course import Course, coarser, course
from rlclinic.signals._error import Error
from rlclinic.signals._memory import PHIS, PRIOR, expectations, quadratic
from rlclinic.signals._robust import median, robust_scale, running_median
from rlclinic.signals._scale import bounded, power_of_two, scaled
from rlclinic.signals._shapes import QUARTILES, Curve

FORGETS = 2.5
"""Noise is taken to be worth at least this many independent points; slower noise cannot be told from a trend."""
COARSE = (50, 25)
"""Points after averaging neighbours, for the coarser levels."""
PARTS = 4
"""Most parts of a curve whose noise may differ in size."""
POINTS_PER_PART = 60
SMALLEST_PART = 0.1
"""Noise of a part against that of the whole, at least."""
UNIT_ROOT = 3.0
"""Standard deviation of the estimated phi near 1, times the number of points."""
CLIP = 3.5
"""Residuals count at most this many scales: one spike is not slow noise."""
NEIGHBOURS = 11
"""Points whose middle says where a value is expected."""
SPIKE = 8.0
"""Values farther off than this many scales are cut down before anything is fitted."""
NEGLIGIBLE = 0.005
"""Weight below which a phi is left out."""
LARGEST_ROUNDING = 1e6
"""Rounding counts at most this many ranges of the curve."""
EXACT = 1e-12
"""Residuals below this share of the curve's own range are rounding of the arithmetic."""
LEAST = 4
"""Points below which no noise can be estimated."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The fit on averages of neighbouring points."""

    edges: NDArray[np.intp]
    """First point of each average."""
    weights: FloatArray
    """Probability of each of `PHIS`."""
    variance: FloatArray
    """Variance of one average, for each of `PHIS`."""
    dof: float


@dataclass(frozen=True, slots=True, eq=False)
class Wander:
    """The noise model of a curve, in the unit of the values it was fitted to."""

    n: int
    profile: FloatArray
    """Size of the noise at each point relative to the whole."""
    levels: tuple[Fit, ...]
    floor: float
    """Smallest standard deviation that rounding allows."""
    unit: float = 1.0
    """What the fit counts in: values of the bulk are around one unit, spikes left out."""

    @property
    def phi(self) -> float:
        """Correlation of neighbouring points."""
        return float(self.levels[0].weights @ PHIS) if self.levels else 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation of one point around the smooth course."""
        if not self.levels:
            return self.floor if self.n >= LEAST else math.nan
        level = self.levels[0]
        return max(math.sqrt(float(level.weights @ level.variance)) * self.unit, self.floor)

    def error(self, contrast: FloatArray) -> Error:
        """The uncertainty of `contrast @ values`."""
        if self.n < LEAST:
            return Error(())
        rounding = self.floor * math.sqrt(float(contrast @ contrast))
        if not self.levels:
            return Error(((((1.0, rounding),), float(self.n)),))
        weighted = contrast * self.profile
        return Error(tuple(_level_error(level, weighted, self.unit, rounding) for level in self.levels))


@lru_cache(maxsize=128)
def wander(curve: Curve) -> Wander:
    """The noise model of a curve in its scaled unit."""
    return wander_of(scaled(curve).y, floor=rounding_noise(curve), parts=PARTS)


def wander_of(
    y: FloatArray,
    floor: float = 0.0,
    parts: int = 1,
    fitted: Callable[[FloatArray], Course] = course,
) -> Wander:
    """The noise model of equally spaced values in about -2..2 around the course that is fitted."""
    n = int(y.size)
    flat = np.ones(n)
    if n < LEAST:
        return Wander(n, flat, (), floor)
    y = _calm(y)
    unit = power_of_two(y)
    y = y / unit
    smooth = fitted(y)
    size = robust_scale(smooth.residual)
    if size <= EXACT:
        return Wander(n, flat, (), floor)
    profile = _profile(smooth.residual, size, min(parts, n // POINTS_PER_PART))
    levels = [_fit(smooth.residual / profile, np.arange(n), smooth.basis.shape[1])]
    for target in COARSE:
        edges = np.arange(target) * n // target
        averaged = coarser(smooth, y / profile, edges) if n >= 2 * target else None
        if averaged is not None:
            levels.append(_fit(averaged.residual, edges, averaged.basis.shape[1]))
    return Wander(n, profile, tuple(level for level in levels if level is not None), floor, unit)


def rounding_noise(curve: Curve) -> float:
    """Standard deviation of the rounding of the writer, in the scaled unit."""
    return min(curve.resolution / math.sqrt(12.0) / scaled(curve).unit, LARGEST_ROUNDING)


def point_noise(curve: Curve, deviation: float) -> float:
    """Standard deviation of one logged point, given that of one point of the curve, in the scaled unit."""
    shared = curve.counts > 1
    if int(shared.sum()) * 2 < len(curve):
        return deviation
    count = median(curve.counts[shared].astype(np.float64))
    inner = median(curve.spread[shared] / scaled(curve).unit)
    if count < QUARTILES:
        # The middle of many sample deviations lies below the true one when each has few points (Wilson-Hilferty).
        inner /= (1.0 - 2.0 / (9.0 * (count - 1.0))) ** 1.5
    share = min(inner / deviation, 1e9) ** 2 / count if deviation > 0.0 else 0.0
    return bounded(math.hypot(inner, deviation * math.sqrt(max(0.0, 1.0 - share))))


def _calm(y: FloatArray) -> FloatArray:
    """The values with spikes cut down to where the bulk of their neighbourhood ends."""
    course = running_median(y, NEIGHBOURS)
    index = np.arange(y.size)
    ahead, behind = np.minimum(index + NEIGHBOURS, y.size - 1), np.maximum(index - NEIGHBOURS, 0)
    # At the ends of a climb the middle of the neighbours lies off the course by a part of what it climbs there.
    bound = SPIKE * robust_scale(y - course) + np.abs(course[ahead] - course[behind])
    calm = np.minimum(np.maximum(y, course - bound), course + bound)
    return calm - median(calm)


def _fit(residual: FloatArray, edges: NDArray[np.intp], columns: int) -> Fit | None:
    """Weigh all phi by the correlation of neighbouring residuals after `columns` columns were fitted."""
    n = int(residual.size)
    bound = CLIP * robust_scale(residual)
    residual = np.minimum(np.maximum(residual, -bound), bound)
    power = float(residual @ residual)
    if power <= EXACT * EXACT:
        return None
    seen = float(residual[1:] @ residual[:-1]) / power
    kept, expected = expectations(n, columns - 1)
    spread = np.sqrt((1.0 - PHIS**2) / n + (UNIT_ROOT / n) ** 2)
    slowest = max(0.0, 1.0 - 2.0 / (n / FORGETS + 1.0))
    possible = np.less_equal(PHIS, slowest)
    misfit = ((seen - expected) / spread) ** 2
    misfit = np.clip(misfit - misfit[possible].min(), 0.0, 1000.0)
    weights = np.where(possible, np.exp(-0.5 * misfit) / spread * PRIOR, 0.0)
    return Fit(edges, weights / weights.sum(), power / kept, float(max(1, n - columns)))


def _level_error(
    level: Fit, contrast: FloatArray, unit: float, rounding: float
) -> tuple[tuple[tuple[float, float], ...], float]:
    coarse = np.add.reduceat(contrast, level.edges) if level.edges.size < contrast.size else contrast
    used = level.weights > NEGLIGIBLE
    variance = level.variance[used] * quadratic(coarse, used)
    weights = level.weights[used] / level.weights[used].sum()
    deviations = np.maximum(np.sqrt(np.maximum(variance, 0.0)) * unit, rounding)
    return tuple(zip(weights.tolist(), deviations.tolist(), strict=True)), level.dof


def _profile(residual: FloatArray, size: float, parts: int) -> FloatArray:
    """Size of the noise along the curve, halfway between that of each part and that of the whole."""
    n = int(residual.size)
    if parts < 2:
        return np.ones(n)
    edges = np.arange(parts + 1) * n // parts
    sizes = np.array([max(robust_scale(residual[a:b]), SMALLEST_PART * size) for a, b in pairwise(edges)])
    centres = (edges[:-1] + edges[1:]) / 2.0
    return np.asarray(np.interp(np.arange(n), centres, np.sqrt(sizes / size)), dtype=np.float64)
