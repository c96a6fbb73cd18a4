"""The area under a series per step: its mean over the run, however unevenly it was logged."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._scale import scaled
from rlclinic.signals._shapes import Centre, Data, between
from rlclinic.signals.resample import resample


@dataclass(frozen=True, slots=True)
class Area:
    """The mean over steps, with the curve drawn straight across gaps."""

    n: int
    enough: bool
    """Whether there is a point at all."""
    mean: float = math.nan


def area(data: Data, until: float | None = None, centre: Centre = "mean") -> Area:
    """Measure the area up to a step, so that runs of different length can be compared."""
    curve = resample(data, centre=centre)
    if until is not None:
        curve = between(curve, -math.inf, until)
    if len(curve) == 0:
        return Area(0, enough=False)
    frame = scaled(curve)
    return Area(curve.n, enough=True, mean=frame.value(float(_trapezoids(frame.x) @ frame.y)))


def _trapezoids(x: FloatArray) -> FloatArray:
    """Weights of the points whose weighted sum is the area under straight lines between them."""
    if x.size == 1 or x[-1] <= x[0]:
        return np.full(x.size, 1.0 / x.size)
    widths = np.diff(x)
    weights = np.zeros(x.size)
    weights[:-1] += widths / 2.0
    weights[1:] += widths / 2.0
    shares: FloatArray = weights / weights.sum()
    return shares
