"""Since when a series stays where it ended, and how surely it is flat there."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._error import Error
from rlclinic.signals._robust import below, location, median, robust_scale, smooth
from rlclinic.signals._scale import ratio, scaled
from rlclinic.signals._shapes import Centre, Curve, Data, within
from rlclinic.signals._wander import Wander, point_noise, wander
from rlclinic.signals.resample import resample

LEAST = 8
"""Points below which a flat end is a matter of luck."""
END = 0.1
"""Share of the steps that first says where the series ended."""
SMOOTHING = 10
"""The curve is averaged over one in this many of its points."""
TOLERANCE = 0.05
"""A series stays where it is while it moves by less than this share of its range."""
SETTLED_NOISE = 0.25
"""A move of less than this many standard deviations of a logged point is flat, however small the range."""
STRAY = 3.0
"""Standard errors by which the smoothed curve may stray from its level by chance, somewhere."""
OUTLIER = 4.0
"""Values count at most this many scales from the middle of the plateau."""
SURE = 2.0
"""Standard errors by which a rise must exceed the band before the plateau is cut shorter."""
CUT = 4
"""It is cut by one in this many of its points at a time ..."""
SHORTEST = 5
"""... down to this many."""
ROUNDS = 3
"""Times the level is taken anew from the stretch it defined."""


@dataclass(frozen=True, slots=True)
class Plateau:
    """The stretch up to the end over which the smoothed curve stays within a band around its level."""

    n: int
    """Finite logged points on the plateau."""
    enough: bool
    since_step: float = math.nan
    share: float = math.nan
    """Share of the steps of the series that the plateau covers."""
    confidence: float = math.nan
    """Probability that the true rise along the plateau stays within the band."""


def plateau(data: Data, tolerance: float = TOLERANCE, centre: Centre = "robust") -> Plateau:
    """Find the plateau a series ends on; one that still moves has a short one of low confidence."""
    curve = resample(data, centre=centre)
    size = len(curve)
    if size < LEAST:
        return Plateau(curve.n, enough=False)
    frame = scaled(curve)
    model = wander(curve)
    width = max(3, size // SMOOTHING)
    smoothed = smooth(frame.y, width)
    around = np.zeros(size)
    around[:width] = 1.0 / width
    band = max(tolerance * float(np.ptp(smoothed)), SETTLED_NOISE * point_noise(curve, model.deviation))
    since = _settled(frame.y, smoothed, curve, max(band, STRAY * model.error(around).deviation), centre)
    since, rise, error = _flat(frame.y, since, band, model)
    return Plateau(
        n=int(curve.counts[since:].sum()),
        enough=True,
        since_step=float(curve.steps[since]),
        share=ratio(float(frame.x[-1] - frame.x[since]), float(frame.x[-1])),
        confidence=_inside(rise, band, error),
    )


def _settled(y: FloatArray, smoothed: FloatArray, curve: Curve, band: float, centre: Centre) -> int:
    """First point after which the smoothed curve stays within the band around its level."""
    last = within(curve, (1.0 - END, 1.0), 3)
    since, level = int(last.start), location(y[last], centre)
    for _ in range(ROUNDS):
        outside = np.flatnonzero(np.abs(smoothed - level) > band)
        since = min(int(outside[-1]) + 1 if outside.size else 0, int(y.size) - 3)
        level = location(y[since:], centre)
    return since


def _flat(y: FloatArray, since: int, band: float, model: Wander) -> tuple[int, float, Error]:
    """The stretch cut shorter until its rise is no longer surely larger than the band, with that rise."""
    rise, error = _rise(y, since, model)
    while abs(rise) - SURE * error.deviation > band and y.size - since > SHORTEST:
        since += max(1, (y.size - since) // CUT)
        rise, error = _rise(y, since, model)
    return since, rise, error


def _rise(y: FloatArray, since: int, model: Wander) -> tuple[float, Error]:
    """Rise of a line along the plateau, with its error."""
    m = y.size - since
    time = np.arange(m) - (m - 1) / 2.0
    contrast = np.zeros(y.size)
    contrast[since:] = time * ((m - 1) / float(time @ time))
    middle = median(y[since:])
    bound = OUTLIER * robust_scale(y[since:])
    return float(contrast[since:] @ np.clip(y[since:], middle - bound, middle + bound)), model.error(contrast)


def _inside(rise: float, band: float, error: Error) -> float:
    deviation = error.deviation
    if math.isnan(deviation):
        return math.nan
    if deviation == 0.0:
        return 1.0 if abs(rise) <= band else 0.0
    dof = min(dof for _, dof in error.levels)
    return max(0.0, below((band - rise) / deviation, dof) - below((-band - rise) / deviation, dof))
