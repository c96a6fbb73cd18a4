"""Does a series rise or fall over a window, and how surely."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._course import plain_course
from rlclinic.signals._robust import average_ranks
from rlclinic.signals._scale import bounded, ratio, scaled
from rlclinic.signals._shapes import Data, Window, within
from rlclinic.signals._slope import slopes
from rlclinic.signals._wander import LEAST, wander_of
from rlclinic.signals.resample import resample


@dataclass(frozen=True, slots=True)
class Trend:
    """The slope of the middle pair of points (Theil-Sen), and a rank test that knows neighbours correlate."""

    n: int
    enough: bool
    slope: float = math.nan
    """Change of the value per step."""
    low: float = math.nan
    """Lower end of the slope's 95% interval."""
    high: float = math.nan
    p_value: float = math.nan
    """Of a rank correlation with time this strong without any trend."""


def trend(data: Data, window: Window = (0.0, 1.0)) -> Trend:
    """Measure the slope inside a window.

    The test holds its level for noise that forgets within about a twentieth of the window. Slower noise,
    or fewer than some fifty points of noise that is strongly correlated, looks like a trend to every test.
    """
    curve = resample(data)
    part = within(curve, window)
    n = int(curve.counts[part].sum())
    frame = scaled(curve)
    x, y = frame.x[part], frame.y[part]
    if x.size < LEAST or x[-1] <= x[0]:
        return Trend(n, enough=False)
    p_value, effective = _rank_test(y)
    pairs = slopes(x, y)
    rise, low, high = (frame.difference(value) for value in (pairs.middle, *pairs.interval(effective)))
    steps = bounded(frame.span * float(x[-1] - x[0]))
    return Trend(
        n=n,
        enough=True,
        slope=ratio(rise, steps),
        low=ratio(low, steps),
        high=ratio(high, steps),
        p_value=p_value,
    )


def _rank_test(y: FloatArray) -> tuple[float, float]:
    """P value of Spearman's correlation with time under the noise model, and the points it is worth."""
    ranks = average_ranks(y)
    time = np.arange(y.size, dtype=np.float64) - (y.size - 1) / 2.0
    time = time / math.sqrt(float(time @ time))
    model = wander_of(ranks, fitted=plain_course)
    error = model.error(time)
    effective = float(y.size)
    if model.levels and error.deviation > 0.0:
        effective = min(max(y.size * (model.deviation / error.deviation) ** 2, 1.0), effective)
    return error.p_value(float(time @ ranks)), effective
