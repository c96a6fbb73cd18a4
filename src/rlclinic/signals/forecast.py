"""Will a series reach a threshold within the budget that is left, by going on as it does now."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._futures import Stretch, continued, repeated, stretch
from rlclinic.signals._robust import smooth
from rlclinic.signals._runs import since
from rlclinic.signals._scale import bounded, scaled
from rlclinic.signals._shapes import Centre, Data
from rlclinic.signals._wander import Wander, wander
from rlclinic.signals.resample import resample

LEAST = 8
"""Points below which nothing can be extrapolated."""
POINTS = 100
"""Points of the curve the fits are made on."""
RECENT = (1.0, 0.6, 0.35)
"""Shares of the series, up to its end, that are continued: which past is like the future is not known."""
MISFIT = 1.5
"""A stretch whose best fit leaves more than this many times the noise has a shape that none of the fits has."""
SMOOTHING = 20
"""The curve is averaged over one in this many of its points before it counts as holding the threshold."""
ROUNDING = 1e-9
"""Allowance for the arithmetic, as a share of the range."""
SEED = 20240229
"""The same series always gives the same forecast."""
SUREST = 0.97
"""No extrapolation is surer than this: of real curves that seemed sure to miss a threshold, some percent reached it."""
INTERVAL = (0.05, 0.95)
"""Ends of the interval: 90%."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The level expected at the end of the budget, and when the threshold is expected."""

    n: int
    enough: bool
    probability: float = math.nan
    """Of reaching the threshold within the budget; 1 when it is reached and held already."""
    value: float = math.nan
    """Level at the end of the budget, in the middle."""
    low: float = math.nan
    """Lower end of the 90% interval of that level."""
    high: float = math.nan
    step: float | None = None
    """Step of the crossing, in the middle of the futures that cross; None when none does."""
    step_low: float | None = None
    """Lower end of its 90% interval."""
    step_high: float | None = None


def forecast(
    data: Data, threshold: float, budget: float, better: Literal["up", "down"] = "up", centre: Centre = "mean"
) -> Forecast:
    """Continue the series up to step `budget` by flat, straight and saturating fits of bootstrapped curves."""
    whole = resample(data, centre=centre)
    curve = resample(whole, bins=POINTS, centre=centre)
    frame = scaled(curve)
    if len(curve) < LEAST or frame.span <= 0.0 or math.isnan(threshold) or math.isnan(budget):
        return Forecast(curve.n, enough=False)
    sign = 1.0 if better == "up" else -1.0
    y = sign * frame.y
    bar = sign * bounded((threshold - frame.offset) / frame.unit)
    horizon = max(1.0, bounded((budget - frame.origin) / frame.span))
    memory, deviation = _noise(wander(whole), scaled(whole).unit / frame.unit, len(curve))
    rng = np.random.default_rng(SEED)
    futures = [continued(part, horizon, bar, memory, rng) for part in _stretches(frame.x, y, memory, deviation)]
    smoothed = smooth(y, max(1, len(curve) // SMOOTHING))
    futures.append(repeated(frame.x, smoothed, horizon, bar, rng))
    levels = np.concatenate([level for level, _ in futures])
    times = np.concatenate([time for _, time in futures])
    index = since(smoothed >= bar - ROUNDING * float(np.abs(smoothed).max()))
    held = None if index is None else float(curve.steps[index])
    crossed = times[times <= horizon]
    steps = [frame.step(float(q)) for q in np.quantile(crossed, (0.5, *INTERVAL))] if crossed.size else [None] * 3
    if held is not None:
        steps = [held] * 3
    middle, low, high = (float(q) for q in np.quantile(levels, (0.5, *INTERVAL)))
    ends = sorted((frame.value(sign * low), frame.value(sign * high)))
    return Forecast(
        n=curve.n,
        enough=True,
        probability=1.0 if held is not None else min(max(crossed.size / times.size, 1.0 - SUREST), SUREST),
        value=frame.value(sign * middle),
        low=ends[0],
        high=ends[1],
        step=steps[0],
        step_low=steps[1],
        step_high=steps[2],
    )


def _noise(model: Wander, unit: float, n: int) -> tuple[float, float]:
    """Points of the shorter curve that are worth one independent point, and the noise of a point of it."""
    deviation = model.deviation
    mean = model.error(np.full(model.n, 1.0 / model.n)).deviation
    if not deviation > 0.0 or not mean > 0.0:
        return 1.0, 0.0
    memory = min(max(model.n * (mean / deviation) ** 2, 1.0), model.n / 3.0)
    merged = model.n / n
    return max(1.0, memory / merged), deviation * unit * min(1.0, math.sqrt(memory / merged))


def _stretches(x: FloatArray, y: FloatArray, memory: float, deviation: float) -> list[Stretch]:
    """The stretches whose best fit leaves little more than noise; the last one in any case."""
    parts = [stretch(x, y, share, memory) for share in RECENT]
    return [part for part in parts[:-1] if part.misfit <= MISFIT * deviation] + parts[-1:]
