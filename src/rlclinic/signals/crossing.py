"""When a series first reached a threshold, and since when it holds it."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._robust import location, smooth
from rlclinic.signals._runs import first, since
from rlclinic.signals._scale import bounded, in_units, scaled
from rlclinic.signals._shapes import Centre, Data, within
from rlclinic.signals._wander import wander
from rlclinic.signals.noise import noise
from rlclinic.signals.resample import resample

END = 0.1
"""Share of the steps that says where the series ended."""
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
    touched_step: float | None = None
    """First point of the resampled curve with a logged value at or beyond the threshold."""
    reached_step: float | None = None
    """First step at which the smoothed curve is at or beyond it: the time to the threshold."""
    reached_earliest: float | None = None
    """The same with the smoothed curve at the favourable end of its 95% interval."""
    reached_latest: float | None = None
    held_step: float | None = None
    """First step from which the smoothed curve stays at or beyond it up to the end."""
    share_beyond: float = math.nan
    """Share of the points of the curve at or beyond it."""
    share_after: float = math.nan
    """The same from `reached_step` on."""
    margin: float = math.nan
    """End minus threshold, positive when beyond it."""
    margin_noise: float = math.nan
    """The margin in standard deviations of a logged point; infinite where there is no noise."""


def crossing(data: Data, threshold: float, better: Literal["up", "down"] = "up", centre: Centre = "mean") -> Crossing:
    """Measure when and for how long a series is at or beyond a threshold."""
    curve = resample(data, centre=centre)
    size = len(curve)
    if size == 0 or math.isnan(threshold):
        return Crossing(curve.n, enough=False)
    frame = scaled(curve)
    sign = 1.0 if better == "up" else -1.0
    y = sign * frame.y
    width = max(1, size // SMOOTHING)
    smoothed = smooth(y, width)
    exact = sign * bounded((threshold - frame.offset) / frame.unit)
    bar = exact - ROUNDING * float(np.abs(smoothed).max())
    around = np.zeros(size)
    around[:width] = 1.0 / width
    half = wander(curve).error(around).half_width()
    beyond = smoothed >= bar
    reached = first(beyond)
    held = since(beyond)
    extreme = curve.high >= threshold if sign > 0 else curve.low <= threshold
    margin = sign * frame.difference(location(frame.y[within(curve, (1.0 - END, 1.0))], centre) - sign * exact)
    steps = curve.steps.tolist()
    return Crossing(
        n=curve.n,
        enough=True,
        touched_step=_step(steps, first(extreme)),
        reached_step=_step(steps, reached),
        reached_earliest=None if math.isnan(half) else _step(steps, first(smoothed + half >= bar)),
        reached_latest=None if math.isnan(half) else _step(steps, first(smoothed - half >= bar)),
        held_step=_step(steps, held),
        share_beyond=float((y >= bar).mean()),
        share_after=float((y[reached:] >= bar).mean()) if reached is not None else math.nan,
        margin=margin,
        margin_noise=in_units(margin, noise(curve).scale),
    )


def _step(steps: list[float], index: int | None) -> float | None:
    return None if index is None else steps[index]
