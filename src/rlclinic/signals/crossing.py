"""When a series first reached a threshold."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._robust import smooth
from rlclinic.signals._runs import first
from rlclinic.signals._scale import bounded, scaled
from rlclinic.signals._shapes import Centre, Data
from rlclinic.signals._wander import wander
from rlclinic.signals.resample import resample

SMOOTHING = 20
"""The curve is averaged over one in this many of its points: one lucky evaluation reaches nothing."""

ROUNDING = 1e-9
"""Allowance for the arithmetic, as a share of the range: a return pinned at the threshold has reached it."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A threshold and a series. Steps are None where the thing never happened."""

    n: int
    enough: bool
    """Whether there is a point at all."""
    reached_step: float | None = None
    """First step at which the smoothed curve is at or beyond it: the time to the threshold."""
    reached_earliest: float | None = None
    """The same with the smoothed curve at the favourable end of its 95% interval."""


def crossing(data: Data, threshold: float, centre: Centre = "mean") -> Crossing:
    """Measure when a series is first at or beyond a threshold."""
    curve = resample(data, centre=centre)
    size = len(curve)
    if size == 0 or math.isnan(threshold):
        return Crossing(curve.n, enough=False)
    frame = scaled(curve)
    width = max(1, size // SMOOTHING)
    smoothed = smooth(frame.y, width)
    bar = bounded((threshold - frame.offset) / frame.unit) - ROUNDING * float(np.abs(smoothed).max())
    around = np.zeros(size)
    around[:width] = 1.0 / width
    half = wander(curve).error(around).half_width()
    steps = curve.steps.tolist()
    return Crossing(
        n=curve.n,
        enough=True,
        reached_step=_step(steps, first(smoothed >= bar)),
        reached_earliest=None if math.isnan(half) else _step(steps, first(smoothed + half >= bar)),
    )


def _step(steps: list[float], index: int | None) -> float | None:
    return None if index is None else steps[index]
