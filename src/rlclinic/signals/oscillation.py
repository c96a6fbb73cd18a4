"""How much a series swings: turns of its smoothed curve, their height and their period."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import median, robust_scale, smooth
from rlclinic.signals._scale import scaled
from rlclinic.signals._shapes import Centre, Data
from rlclinic.signals.resample import resample

LEAST = 8
"""Points below which a swing is one point."""
SMOOTHING = 40
"""The curve is averaged over one in this many of its points: faster swings count as noise."""
MATERIAL = 0.1
"""A turn counts when the curve moves back by this share of its range ..."""
CERTAIN = 3.0
"""... and by this many standard errors of the smoothed curve."""


@dataclass(frozen=True, slots=True)
class Oscillation:
    """Swings of the smoothed curve around the closest course that never turns."""

    n: int
    enough: bool
    turns: int = 0
    """Times the smoothed curve changed its direction materially."""
    period: float = math.nan
    """Steps from one peak to the next, in the middle; NaN with fewer than three turns."""
    regularity: float = math.nan
    """1 where all half periods are alike, towards 0 where they are not; NaN with fewer than three turns."""


def oscillation(data: Data, centre: Centre = "robust", material: float = MATERIAL) -> Oscillation:
    """Measure swings that are larger than a share `material` of the curve's range."""
    curve = resample(data, centre=centre)
    if len(curve) < LEAST:
        return Oscillation(curve.n, enough=False)
    frame = scaled(curve)
    width = max(3, len(curve) // SMOOTHING)
    smoothed = smooth(frame.y, width)
    if float(frame.y.var()) == 0.0:
        return Oscillation(curve.n, enough=True)
    fast = robust_scale(np.diff(frame.y)) / math.sqrt(2.0)
    needed = max(material * float(np.ptp(smoothed)), CERTAIN * fast * math.sqrt(2.0 / width))
    turns = _turns(smoothed, needed)
    halves = np.diff(curve.steps[turns])
    return Oscillation(
        n=curve.n,
        enough=True,
        turns=len(turns),
        period=2.0 * median(halves) if halves.size >= 2 else math.nan,
        regularity=_regularity(halves) if halves.size >= 2 else math.nan,
    )


def _turns(y: FloatArray, needed: float) -> list[int]:
    """Indices of the peaks and valleys between which the curve moves by at least `needed`."""
    turns: list[int] = []
    values = y.tolist()
    highest = lowest = 0
    direction = 0
    for index, value in enumerate(values):
        if value > values[highest]:
            highest = index
        if value < values[lowest]:
            lowest = index
        if direction >= 0 and values[highest] - value >= needed:
            if direction > 0:
                turns.append(highest)
            direction, lowest, highest = -1, index, index
        elif direction <= 0 and value - values[lowest] >= needed:
            if direction < 0:
                turns.append(lowest)
            direction, lowest, highest = 1, index, index
    return turns


def _regularity(halves: FloatArray) -> float:
    middle = float(halves.mean())
    return 1.0 / (1.0 + float(halves.std()) / middle) if middle > 0 else math.nan
