"""How much of a series is one steady drift, and which way."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._monotone import monotone
from rlclinic.signals._robust import smooth
from rlclinic.signals._scale import in_units, power_of_two, ratio, scaled
from rlclinic.signals._shapes import Centre, Data
from rlclinic.signals._wander import wander
from rlclinic.signals.noise import noise
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
    straightness: float = math.nan
    """Net movement over the length of the way there: 1 never turned back."""
    total: float = math.nan
    """From the beginning to the end of the monotone course, with its sign."""
    low: float = math.nan
    """Lower end of the 95% interval of the total."""
    high: float = math.nan
    total_noise: float = math.nan
    """The total in standard deviations of a logged point; infinite where there is no noise."""


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
        return Drift(curve.n, enough=True, direction=0.0, share=0.0, total=0.0, low=0.0, high=0.0, total_noise=0.0)
    course, direction = monotone(smoothed)
    way = float(np.abs(np.diff(smoothed)).sum())
    total = float(course[-1] - course[0]) * unit
    contrast = np.zeros(size)
    contrast[:width] -= 1.0 / width
    contrast[size - width :] += 1.0 / width
    half = wander(curve).error(contrast).half_width()
    return Drift(
        n=curve.n,
        enough=True,
        direction=direction,
        share=max(0.0, 1.0 - float(((smoothed - course) ** 2).mean()) / variance),
        straightness=ratio(abs(float(smoothed[-1] - smoothed[0])), way),
        total=frame.difference(total),
        low=frame.difference(total - half),
        high=frame.difference(total + half),
        total_noise=in_units(frame.difference(total), noise(curve).scale),
    )
