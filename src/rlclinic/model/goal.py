"""The return that counts as success, and where a return came to it."""

from __future__ import annotations

from typing import Literal

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import Series


@dataclass(frozen=True, slots=True)
class Goal:
    """The return that counts as success."""

    level: float
    source: Literal["user", "run", "task"]
    """Whether the user set it, the run's own files name it, or the table of well-known tasks."""
    base: float
    """Where the way to the goal begins: the random policy's return, else the run's start."""
    origin: str = ""
    """Who says so, in words: `set with --goal`, `the run's own threshold`, `the threshold of CartPole-v1`."""

    def share(self, value: float) -> float:
        """How much of the way from the base to the goal a return has made."""
        return (value - self.base) / (self.level - self.base) if self.level != self.base else 1.0

    @property
    def is_own(self) -> bool:
        """Whether it was set for this very run, and not for its task in general."""
        return self.source != "task"


@dataclass(frozen=True, slots=True, eq=False)
class GoalReached:
    """Where a return came to its goal, and whether it stayed."""

    series: Series
    step: float
    """First step from which three points in a row average the goal."""
    held: bool
    final: float
