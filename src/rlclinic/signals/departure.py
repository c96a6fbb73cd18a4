"""Since when a series is away from a level, beyond its noise: where two curves part, given their difference."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import smooth
from rlclinic.signals._scale import bounded, scaled
from rlclinic.signals._shapes import Data
from rlclinic.signals._wander import LEAST, wander
from rlclinic.signals.resample import resample

SMOOTHING = 20
"""The curve is averaged over one in this many of its points."""
STRAY = 3.0
"""Standard errors by which the smoothed curve may stray from the level by chance, somewhere."""
SHORTEST = 0.1
"""Share of the points that a stretch away from the level must hold."""


@dataclass(frozen=True, slots=True)
class Departure:
    """The stretch over which the smoothed curve stays on one side of the level. Steps are None where there is none."""

    n: int
    enough: bool
    step: float | None = None
    """First step of the stretch."""
    end_step: float | None = None
    """Last step of the stretch; None where it lasts to the end of the series."""
    from_start: bool = False
    """Whether the stretch begins with the series, so that nothing is seen of a departure."""
    difference: float = math.nan
    """Mean distance from the level over the stretch."""
    band: float = math.nan
    """Distance that counts as away from the level."""


def departure(data: Data, level: float = 0.0, material: float = 0.0) -> Departure:
    """Find the stretch that lasts to the end, else the longest one; closer than `material` is at the level."""
    curve = resample(data, centre="mean")
    if len(curve) < LEAST or math.isnan(level):
        return Departure(curve.n, enough=False)
    frame = scaled(curve)
    width = max(1, len(curve) // SMOOTHING)
    away = smooth(frame.y, width) - bounded((level - frame.offset) / frame.unit)
    around = np.zeros(len(curve))
    around[:width] = 1.0 / width
    doubt = wander(curve).error(around).deviation
    if math.isnan(doubt):
        return Departure(curve.n, enough=False)
    band = max(STRAY * doubt, material / frame.unit)
    stretches = _stretches(np.sign(away) * (np.abs(away) > band))
    least = max(2.0, SHORTEST * len(curve))
    kept = [part for part in stretches if part[1] - part[0] >= least]
    if not kept:
        return Departure(curve.n, enough=True, band=frame.difference(band))
    start, stop = kept[-1] if kept[-1][1] == len(curve) else max(kept, key=lambda part: part[1] - part[0])
    return Departure(
        n=curve.n,
        enough=True,
        step=float(curve.steps[start]),
        end_step=None if stop == len(curve) else float(curve.steps[stop - 1]),
        from_start=start == 0,
        difference=frame.difference(float(away[start:stop].mean())),
        band=frame.difference(band),
    )


def _stretches(side: FloatArray) -> list[tuple[int, int]]:
    """First index and end of every stretch on one side."""
    edges = [0, *(np.flatnonzero(np.diff(side)) + 1).tolist(), int(side.size)]
    return [(start, stop) for start, stop in pairwise(edges) if side[start] != 0.0]
