"""How much of a series is one steady drift, and which way."""

from __future__ import annotations

import math

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._monotone import monotone
from rlclinic.signals._robust import smooth
from rlclinic.signals._scale import power_of_two, scaled
from rlclinic.signals._shapes import Centre, Data
from rlclinic.signals.resample import resample

LEAST = 6
"""Points below which drift and noise cannot be told apart."""
SMOOTHING = 20
"""The curve is averaged over one in this many of its points."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The part of the smoothed curve that a course without turns explains."""

    n: int
    enough: bool
    direction: float = math.nan
    """1 upwards, -1 downwards, 0 for a series that never moves."""
    share: float = math.nan
    """Share of the smoothed curve's variance that the best monotone course explains."""


def drift(data: Data, centre: Centre = "robust") -> Drift:
    """Measure the monotone part of a series."""
    curve = resample(data, centre=centre)
    size = len(curve)
    if size < LEAST:
        return Drift(curve.n, enough=False)
    frame = scaled(curve)
    width = max(3, size // SMOOTHING)
    smoothed = smooth(frame.y, width)
    unit = power_of_two(smoothed - smoothed[0])
    smoothed = (smoothed - smoothed[0]) / unit
    variance = float(smoothed.var())
    if variance == 0.0:
        return Drift(curve.n, enough=True, direction=0.0, share=0.0)
    course, direction = monotone(smoothed)
    return Drift(
        n=curve.n,
        enough=True,
        direction=direction,
        share=max(0.0, 1.0 - float(((smoothed - course) ** 2).mean()) / variance),
    )
