"""What one change did under one cause, as measured in trials or restated from a publication."""

from __future__ import annotations

import math
from typing import Literal

from rlclinic.model.lazy_dataclass import dataclass

Direction = Literal["up", "down", "set"]
DIRECTIONS = ("up", "down", "set")
REGAINED = "missing-return"
"""The metric of effects that are shares of what a run lacks of a healthy return: 0 nothing came back, 1 all of it."""


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One environment's answer: how far a change moved a metric when a cause was at work."""

    cause: str
    """Cause id, `nothing-wrong` for the harm done to a healthy run."""
    key: str
    """Canonical hyperparameter, or the name of the snippet where the change is code."""
    direction: Direction
    environment: str
    algorithm: str
    metric: str
    """`steps-to-threshold`, `final-return` or `missing-return`."""
    effect: float
    """Relative change of the metric: -0.3 of steps-to-threshold is 30% fewer steps; a share of the missing return."""
    n_seeds: int
    source: str = ""
    """The trial's id in the ledger, or the citation."""

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ValueError(f"{self.cause}: {self.direction!r} is not a direction")
        if not math.isfinite(self.effect):
            raise ValueError(f"{self.cause}: the effect on {self.environment} is not finite")
        if self.n_seeds < 1:
            raise ValueError(f"{self.cause}: an effect rests on at least one seed")
