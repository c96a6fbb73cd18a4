"""How far a series moved between two windows, in its own unit and in units of its noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlclinic.signals._robust import location
from rlclinic.signals._scale import in_units, scaled
from rlclinic.signals._shapes import Centre, Data, Window, within
from rlclinic.signals._wander import LEAST, wander
from rlclinic.signals.noise import noise
from rlclinic.signals.resample import resample

AT_LEAST = 3
"""Points a window at an end of the series is widened to."""


@dataclass(frozen=True, slots=True)
class Change:
    """The level of a later window against that of an earlier one."""

    n: int
    """Finite logged points inside the two windows."""
    enough: bool
    before: float = math.nan
    after: float = math.nan
    difference: float = math.nan
    """After minus before."""
    low: float = math.nan
    """Lower end of the 95 % interval of the difference."""
    high: float = math.nan
    effect: float = math.nan
    """The difference in standard deviations of a logged point; infinite where there is no noise."""
    effect_low: float = math.nan
    effect_high: float = math.nan
    p_value: float = math.nan
    """Of a difference this large between two windows of one level."""


def change(data: Data, before: Window = (0.0, 0.05), after: Window = (0.9, 1.0), centre: Centre = "robust") -> Change:
    """Compare two windows, given as shares of the steps the series spans."""
    curve = resample(data, centre=centre)
    at_least = max(1, min(AT_LEAST, len(curve) // 2))
    first, second = within(curve, before, at_least), within(curve, after, at_least)
    sizes = (first.stop - first.start, second.stop - second.start)
    if len(curve) < LEAST or min(sizes) < 1:
        return Change(curve.n, enough=False)
    frame = scaled(curve)
    start, end = location(frame.y[first], centre), location(frame.y[second], centre)
    contrast = np.zeros(len(curve))
    contrast[first] -= 1.0 / sizes[0]
    contrast[second] += 1.0 / sizes[1]
    error = wander(curve).error(contrast)
    half = error.half_width()
    unit = noise(curve).scale
    difference, low, high = (frame.difference(end - start + shift) for shift in (0.0, -half, half))
    return Change(
        n=int(curve.counts[first].sum() + curve.counts[second].sum()),
        enough=True,
        before=frame.value(start),
        after=frame.value(end),
        difference=difference,
        low=low,
        high=high,
        effect=in_units(difference, unit),
        effect_low=in_units(low, unit),
        effect_high=in_units(high, unit),
        p_value=error.p_value(end - start),
    )
