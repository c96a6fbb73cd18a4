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
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.series import FloatArray
from rlclinic.signals._course import Course, coarser, course, line
from rlclinic.signals._robust import median, robust_scale, running_median, two_sided
from rlclinic.signals._scale import bounded, power_of_two, scaled
from rlclinic.signals._shapes import QUARTILES, Curve

PHIS: FloatArray = np.concatenate(
    (np.linspace(0.0, 0.8, 9), [0.85, 0.88, 0.9, 0.92, 0.94, 0.955, 0.965, 0.975, 0.98, 0.985])
)
"""Correlations of neighbours that are weighed against each other."""
FORGETS = 2.5
"""Noise is taken to be worth at least this many independent points; slower noise cannot be told from a trend."""
PRIOR: FloatArray = np.gradient(PHIS)
"""Weight of each of them before the data: all phi are equally likely."""
COARSE = (50, 25)
"""Points after averaging neighbours, for the coarser levels."""
PARTS = 4
"""Most parts of a curve whose noise may differ in size."""
POINTS_PER_PART = 60
UNIT_ROOT = 3.0
"""Standard deviation of the estimated phi near 1, times the number of points."""
CLIP = 3.5
"""Residuals count at most this many scales: one spike is not slow noise."""
NEIGHBOURS = 11
"""Points whose middle says where a value is expected."""
SPIKE = 8.0
"""Values farther off than this many scales are cut down before anything is fitted."""
SHORT = 128
"""Points up to which a plain sum over lags is faster than a Fourier transform."""
STEPS = 3
"""Steps to the half width of an interval; it is then off by less than a hundredth."""
NEGLIGIBLE = 0.005
"""Weight below which a phi is left out."""
EXACT = 1e-12
"""Residuals below this share of the curve's own range are rounding of the arithmetic."""
LEAST = 4
"""Points below which no noise can be estimated."""


@dataclass(frozen=True, slots=True, eq=False)
class Error:
    """The uncertainty of one weighted sum of the points: a mixture of errors per level, the widest counts."""

    levels: tuple[tuple[tuple[tuple[float, float], ...], float], ...]
    """Per level: (weight, standard deviation) of each phi, and the degrees of freedom."""

    @property
    def deviation(self) -> float:
        """The standard error."""
        return max((_combined(parts) for parts, _ in self.levels), default=math.nan)

    def p_value(self, estimate: float) -> float:
        """Probability of an estimate at least as far from zero, were the truth zero."""
        if not self.levels:
            return math.nan
        return max(sum(w * _tail(estimate, s, dof) for w, s in parts) for parts, dof in self.levels)

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the interval around an estimate."""
        if not self.levels or self.deviation == 0.0:
            return self.deviation
        wanted = NormalDist().inv_cdf(0.5 + confidence / 2.0)
        width = wanted * self.deviation
        # The normal quantile of the p value is almost proportional to the width, so few steps are enough.
        for _ in range(STEPS):
            reached = NormalDist().inv_cdf(1.0 - min(max(self.p_value(width), 1e-12), 1.0 - 1e-12) / 2.0)
            width *= wanted / reached
        return width


@dataclass(frozen=True, slots=True, eq=False)
class Level:
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
    levels: tuple[Level, ...]
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


@lru_cache(maxsize=64)
def wander(curve: Curve) -> Wander:
    """The noise model of a curve in its scaled unit."""
    frame = scaled(curve)
    return wander_of(frame.y, floor=curve.resolution / math.sqrt(12.0) / frame.unit, parts=PARTS)


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


def within_bins(curve: Curve, unit: float) -> float:
    """The scatter that binning averaged away."""
    shared = curve.counts > 1
    if int(shared.sum()) * 2 < len(curve):
        return 0.0
    dof = median(curve.counts[shared].astype(np.float64)) - 1.0
    middle = median(curve.spread[shared] / unit)
    # The middle of many sample deviations lies below the true one when each has few points (Wilson-Hilferty).
    lowered = (1.0 - 2.0 / (9.0 * dof)) ** 1.5 if dof + 1.0 < QUARTILES else 1.0
    return bounded(middle / lowered)


def _calm(y: FloatArray) -> FloatArray:
    """The values with spikes cut down to where the bulk of their neighbourhood ends."""
    course = running_median(y, NEIGHBOURS)
    bound = SPIKE * robust_scale(y - course)
    calm = np.clip(y, course - bound, course + bound)
    return calm - median(calm)


def _fit(residual: FloatArray, edges: NDArray[np.intp], columns: int) -> Level | None:
    """Weigh all phi by the correlation of neighbouring residuals after `columns` columns were fitted."""
    n = int(residual.size)
    bound = CLIP * robust_scale(residual)
    residual = np.clip(residual, -bound, bound)
    power = float(residual @ residual)
    if power <= EXACT * EXACT:
        return None
    seen = float(residual[1:] @ residual[:-1]) / power
    kept, expected = _expectations(n, columns - 1)
    spread = np.sqrt((1.0 - PHIS**2) / n + (UNIT_ROOT / n) ** 2)
    possible = PHIS <= max(0.0, 1.0 - 2.0 / (n / FORGETS + 1.0))
    misfit = ((seen - expected) / spread) ** 2
    misfit = np.clip(misfit - misfit[possible].min(), 0.0, 1000.0)
    weights = np.where(possible, np.exp(-0.5 * misfit) / spread * PRIOR, 0.0)
    return Level(edges, weights / weights.sum(), power / kept, float(max(1, n - columns)))


def _level_error(
    level: Level, contrast: FloatArray, unit: float, rounding: float
) -> tuple[tuple[tuple[float, float], ...], float]:
    coarse = np.add.reduceat(contrast, level.edges) if level.edges.size < contrast.size else contrast
    used = level.weights > NEGLIGIBLE
    variance = level.variance[used] * _quadratic(coarse, used)
    weights = level.weights[used] / level.weights[used].sum()
    deviations = np.maximum(np.sqrt(np.maximum(variance, 0.0)) * unit, rounding)
    return tuple(zip(weights.tolist(), deviations.tolist(), strict=True)), level.dof


def _quadratic(contrast: FloatArray, used: NDArray[np.bool_]) -> FloatArray:
    """Variance of the weighted sum of unit noise, for those of `PHIS` that are used."""
    n = int(contrast.size)
    if n <= SHORT:
        lags = np.correlate(contrast, contrast, mode="full")[n - 1 :]
    else:
        length = 1 << (2 * n - 1).bit_length()
        spectrum = np.fft.rfft(contrast, length)
        lags = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, length)[:n]
    lags[1:] *= 2.0
    result: FloatArray = _powers(n)[used] @ lags
    return result


@lru_cache(maxsize=64)
def _powers(n: int) -> FloatArray:
    powers: FloatArray = PHIS[:, None] ** np.arange(n)
    return powers


@lru_cache(maxsize=256)
def _expectations(n: int, pieces: int) -> tuple[FloatArray, FloatArray]:
    """For unit noise of each phi: expected sum of squared residuals, and the neighbour correlation seen in them."""
    basis = line(n, pieces)
    blurred = _blurred(basis)
    inner = np.einsum("tm,ptk->pmk", basis, blurred)
    kept = n - np.trace(inner, axis1=1, axis2=2)
    lagged = (n - 1) * PHIS - np.einsum("tm,ptm->p", basis[:-1], blurred[:, 1:])
    lagged -= np.einsum("tm,ptm->p", basis[1:], blurred[:, :-1])
    lagged += np.einsum("tm,pmk,tk->p", basis[:-1], inner, basis[1:], optimize=True)
    return kept, lagged / kept


def _blurred(basis: FloatArray) -> FloatArray:
    """The columns of a basis times the covariance of unit noise of each phi."""
    n = basis.shape[0]
    length = 1 << (2 * n - 1).bit_length()
    covariance = np.zeros((PHIS.size, length))
    covariance[:, :n] = _powers(n)
    covariance[:, length - n + 1 :] = _powers(n)[:, :0:-1]
    spectra = np.fft.rfft(covariance, axis=1).real[:, :, None] * np.fft.rfft(basis, length, axis=0)[None]
    blurred: FloatArray = np.fft.irfft(spectra, length, axis=1)[:, :n]
    return blurred


def _profile(residual: FloatArray, size: float, parts: int) -> FloatArray:
    """Size of the noise along the curve, halfway between that of each part and that of the whole."""
    n = int(residual.size)
    if parts < 2:
        return np.ones(n)
    edges = np.arange(parts + 1) * n // parts
    pairs = zip(edges[:-1], edges[1:], strict=True)
    sizes = np.array([max(robust_scale(residual[a:b]), 0.1 * size) for a, b in pairs])
    centres = (edges[:-1] + edges[1:]) / 2.0
    return np.asarray(np.interp(np.arange(n), centres, np.sqrt(sizes / size)), dtype=np.float64)


def _tail(estimate: float, deviation: float, dof: float) -> float:
    if deviation > 0.0:
        return two_sided(estimate / deviation, dof)
    return 0.0 if estimate else 1.0


def _combined(parts: tuple[tuple[float, float], ...]) -> float:
    largest = max(s for _, s in parts)
    return largest * math.sqrt(sum(w * (s / largest) ** 2 for w, s in parts)) if largest > 0.0 else 0.0
