"""How much of what a run once had it lost again: from the peak of the smoothed curve to the end."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._robust import location, smooth
from rlclinic.signals._scale import in_units, ratio, scaled
from rlclinic.signals._shapes import Centre, Data, within
from rlclinic.signals._wander import Wander, wander
from rlclinic.signals.noise import noise
from rlclinic.signals.resample import resample

LEAST = 6
"""Points below which start, peak and end are not three things."""
EDGE = 0.05
"""Share of the steps that is the start, and that is the end."""
SMOOTHING = 10
"""The curve is averaged over one in this many of its points before its peak is taken."""

MEDIAN_MAXIMUM = 0.5264
"""The expected maximum of k normals is the quantile at this number to the power of 1/k (Chen and Tyler 1999)."""


@dataclass(frozen=True, slots=True)
class Collapse:
    """A climb and what came of it. The peak of noise lies above its level: the interval allows for that."""

    n: int
    enough: bool
    start: float = math.nan
    peak: float = math.nan
    peak_step: float = math.nan
    end: float = math.nan
    climb: float = math.nan
    """From start to peak, positive in the good direction."""
    drop: float = math.nan
    """From peak to end, positive when something was lost."""
    drop_low: float = math.nan
    """Lower end of the 95% interval of the drop."""
    drop_high: float = math.nan
    share: float = math.nan
    """Drop over climb: 0 kept everything, 1 ended where it began; NaN without a climb."""
    share_low: float = math.nan
    share_high: float = math.nan
    drop_noise: float = math.nan
    """The drop in standard deviations of a logged point; infinite where there is no noise."""


def collapse(data: Data, better: Literal["up", "down"] = "up", centre: Centre = "robust") -> Collapse:
    """Measure the loss from the best stretch to the end."""
    curve = resample(data, centre=centre)
    size = len(curve)
    if size < LEAST:
        return Collapse(curve.n, enough=False)
    frame = scaled(curve)
    sign = 1.0 if better == "up" else -1.0
    y = sign * frame.y
    first, last = within(curve, (0.0, EDGE), 3), within(curve, (1.0 - EDGE, 1.0), 3)
    start, end = location(y[first], centre), location(y[last], centre)
    width = max(3, size // SMOOTHING)
    smoothed = smooth(y, width)
    peak = int(np.argmax(smoothed))
    top = max(float(smoothed[peak]), start, end)
    half, luck = _doubt(wander(curve), peak, width // 2, last)
    drop, climb = top - end, top - start
    low = drop - luck - half
    return Collapse(
        n=curve.n,
        enough=True,
        start=frame.value(sign * start),
        peak=frame.value(sign * top),
        peak_step=float(curve.steps[peak]),
        end=frame.value(sign * end),
        climb=frame.difference(climb),
        drop=frame.difference(drop),
        drop_low=frame.difference(low),
        drop_high=frame.difference(drop + half),
        share=ratio(drop, climb),
        share_low=ratio(low, climb),
        share_high=ratio(drop + half, climb),
        drop_noise=in_units(frame.difference(drop), noise(curve).scale),
    )


def _doubt(model: Wander, peak: int, reach: int, last: slice) -> tuple[float, float]:
    """Half width of the interval of the drop, and how far the best of several noisy stretches lies too high."""
    around = slice(max(0, peak - reach), min(model.n, peak + reach + 1))
    best = np.zeros(model.n)
    best[around] = 1.0 / (around.stop - around.start)
    ending = np.zeros(model.n)
    ending[last] = 1.0 / (last.stop - last.start)
    stretches = max(2.0, model.n / (2.0 * reach + 1.0))
    expected = NormalDist().inv_cdf(MEDIAN_MAXIMUM ** (1.0 / stretches))
    return model.error(best - ending).half_width(), expected * model.error(best).deviation
