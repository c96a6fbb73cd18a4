"""Which of two series moved first."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._robust import below, median
from rlclinic.signals._scale import bounded
from rlclinic.signals._shapes import Curve, Data, between
from rlclinic.signals.change_points import ChangePoint, change_points
from rlclinic.signals.resample import resample

INTERVAL = 1.96
"""Standard deviations on each side of a 95% interval."""
MANY = 1e6
"""Degrees of freedom at which Student's distribution is the normal one."""

Direction = Literal["up", "down", "any"]


@dataclass(frozen=True, slots=True)
class Onset:
    """The beginning of the largest move of one series."""

    step: float
    low_step: float
    """Lower end of the 95% interval."""
    high_step: float
    difference: float
    """The move, from the level before its first jump to the level after its last."""
    effect: float
    """The same in standard deviations of a logged point."""


@dataclass(frozen=True, slots=True)
class LeadLag:
    """Two onsets and their order. Without a jump in both series there is no order."""

    n: int
    """Finite logged points of the shorter series."""
    enough: bool
    first: Onset | None = None
    second: Onset | None = None
    lag: float = math.nan
    """Steps from the onset of the first to that of the second: positive when the first one leads."""
    low: float = math.nan
    """Lower end of the 95% interval of the lag."""
    high: float = math.nan
    probability: float = math.nan
    """That the first one moved first."""


def lead_lag(
    first: Data,
    second: Data,
    directions: tuple[Direction, Direction] = ("any", "any"),
    delays: tuple[float, float] = (0.0, 0.0),
    steps: tuple[float, float] = (-math.inf, math.inf),
) -> LeadLag:
    """Compare the onsets of the largest moves between two steps.

    `delays` are steps by which each metric lags what it measures: a mean of the last hundred episodes
    shows a jump about fifty episodes late.
    """
    curves = [between(resample(data), *steps) for data in (first, second)]
    n = min(curve.n for curve in curves)
    one, two = (
        onset(curve, direction, delay) for curve, direction, delay in zip(curves, directions, delays, strict=True)
    )
    if one is None or two is None:
        return LeadLag(n, enough=False, first=one, second=two)
    lag = bounded(two.step - one.step)
    doubt = math.hypot(_deviation(one, curves[0]), _deviation(two, curves[1]))
    probability = below(lag / doubt, MANY) if doubt > 0.0 else 0.5 * (1.0 + np.sign(lag))
    return LeadLag(
        n=n,
        enough=True,
        first=one,
        second=two,
        lag=lag,
        low=bounded(lag - INTERVAL * doubt),
        high=bounded(lag + INTERVAL * doubt),
        probability=float(probability),
    )


def onset(
    data: Data, direction: Direction = "any", delay: float = 0.0, steps: tuple[float, float] = (-math.inf, math.inf)
) -> Onset | None:
    """The start of the staircase of jumps between two steps that covers the largest difference."""
    stairs: list[list[ChangePoint]] = []
    for point in change_points(between(resample(data), *steps)).points:
        same_way = stairs and stairs[-1][-1].difference * point.difference > 0.0
        if same_way:
            stairs[-1].append(point)
        else:
            stairs.append([point])
    wanted = [stair for stair in stairs if direction == "any" or (stair[0].difference > 0) == (direction == "up")]
    if not wanted:
        return None
    stair = max(wanted, key=lambda jumps: abs(bounded(sum(jump.difference for jump in jumps))))
    start = stair[0]
    return Onset(
        step=bounded(start.step - delay),
        low_step=bounded(start.low_step - delay),
        high_step=bounded(start.high_step - delay),
        difference=bounded(sum(jump.difference for jump in stair)),
        effect=bounded(sum(jump.effect for jump in stair)),
    )


def _deviation(onset: Onset, curve: Curve) -> float:
    """Standard deviation of an onset: that of the jump, and half the distance between two points of the curve."""
    spacing = median(np.diff(curve.steps))
    return math.hypot(bounded(onset.high_step - onset.low_step) / (2.0 * INTERVAL), spacing / 2.0)
