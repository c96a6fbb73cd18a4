"""What a run once had and lost again: from the peak of the smoothed curve to the end."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._robust import location, smooth
from rlclinic.signals._scale import scaled
from rlclinic.signals._shapes import Centre, Data, within
from rlclinic.signals._wander import Wander, wander
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
    """What came of the best. The peak of noise lies above its level: the interval allows for that."""

    n: int
    enough: bool
    drop: float = math.nan
    """From peak to end, positive when something was lost."""
    drop_low: float = math.nan
    """Lower end of the 95% interval of the drop."""


def collapse(data: Data, centre: Centre = "robust") -> Collapse:
    """Measure the loss from the best stretch to the end."""
    curve = resample(data, centre=centre)
    size = len(curve)
    if size < LEAST:
        return Collapse(curve.n, enough=False)
    frame = scaled(curve)
    y = frame.y
    first, last = within(curve, (0.0, EDGE), 3), within(curve, (1.0 - EDGE, 1.0), 3)
    start, end = location(y[first], centre), location(y[last], centre)
    width = max(3, size // SMOOTHING)
    smoothed = smooth(y, width)
    peak = int(np.argmax(smoothed))
    top = max(float(smoothed[peak]), start, end)
    half, luck = _doubt(wander(curve), peak, width // 2, last)
    drop = top - end
    return Collapse(curve.n, enough=True, drop=frame.difference(drop), drop_low=frame.difference(drop - luck - half))


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
