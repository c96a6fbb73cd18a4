"""Where the largest move of a series begins."""

from __future__ import annotations

import math
from typing import Literal

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._scale import bounded
from rlclinic.signals._shapes import Data, between
from rlclinic.signals.change_points import ChangePoint, change_points
from rlclinic.signals.resample import resample

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
