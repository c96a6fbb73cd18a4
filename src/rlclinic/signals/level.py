"""Where a series lies inside a window: the first twentieth, the last tenth, the whole."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._robust import location
from rlclinic.signals._scale import scaled
from rlclinic.signals._shapes import Centre, Data, Window, within
from rlclinic.signals._wander import wander
from rlclinic.signals.resample import resample

AT_LEAST = 3
"""Points a window at an end of the series is widened to."""


@dataclass(frozen=True, slots=True)
class Level:
    """The middle of a window and how far it can be trusted."""

    n: int
    """Finite logged points inside the window."""
    enough: bool
    """Whether the series has points enough for an interval; the value needs one point."""
    value: float = math.nan
    low: float = math.nan
    """Lower end of the 95% interval."""
    high: float = math.nan


def level(data: Data, window: Window = (0.9, 1.0), centre: Centre = "robust", at_least: int = AT_LEAST) -> Level:
    """Measure the level inside a window; a window at an end grows until it holds `at_least` points."""
    curve = resample(data, centre=centre)
    part = within(curve, window, at_least)
    if part.stop <= part.start:
        return Level(0, enough=False)
    frame = scaled(curve)
    value = location(frame.y[part], centre)
    contrast = np.zeros(len(curve))
    contrast[part] = 1.0 / (part.stop - part.start)
    half = wander(curve).error(contrast).half_width()
    return Level(
        n=int(curve.counts[part].sum()),
        enough=not math.isnan(half),
        value=frame.value(value),
        low=frame.value(value - half),
        high=frame.value(value + half),
    )
