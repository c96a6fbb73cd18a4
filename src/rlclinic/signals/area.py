"""The area under a series per step: its mean over the run, however unevenly it was logged."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import location, smooth
from rlclinic.signals._scale import ratio, scaled
from rlclinic.signals._shapes import Centre, Data, between, within
from rlclinic.signals._wander import wander
from rlclinic.signals.resample import resample

EDGE = 0.05
"""Share of the steps that is the start."""
SMOOTHING = 10
"""The curve is averaged over one in this many of its points before its best is taken."""


@dataclass(frozen=True, slots=True)
class Area:
    """The mean over steps, with the curve drawn straight across gaps."""

    n: int
    enough: bool
    """Whether there are points enough for an interval; the mean needs one point."""
    mean: float = math.nan
    low: float = math.nan
    """Lower end of the 95% interval."""
    high: float = math.nan
    share: float = math.nan
    """The mean between the start (0) and the farthest smoothed level from it (1): 1 learned at once."""
    steps: float = math.nan
    """Steps the area covers."""


def area(data: Data, until: float | None = None, centre: Centre = "mean") -> Area:
    """Measure the area up to a step, so that runs of different length can be compared."""
    curve = resample(data, centre=centre)
    if until is not None:
        curve = between(curve, -math.inf, until)
    if len(curve) == 0:
        return Area(0, enough=False)
    frame = scaled(curve)
    weights = _trapezoids(frame.x)
    mean = float(weights @ frame.y)
    half = wander(curve).error(weights).half_width()
    start = location(frame.y[within(curve, (0.0, EDGE), 2)], centre)
    smoothed = smooth(frame.y, max(3, len(curve) // SMOOTHING))
    farthest = float(smoothed[np.argmax(np.abs(smoothed - start))])
    return Area(
        n=curve.n,
        enough=not math.isnan(half),
        mean=frame.value(mean),
        low=frame.value(mean - half),
        high=frame.value(mean + half),
        share=ratio(mean - start, farthest - start),
        steps=frame.span,
    )


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
