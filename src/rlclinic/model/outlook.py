"""What is to be expected of a run that is still going, and what to do with it. Progress so far is not a result."""

from __future__ import annotations

from enum import StrEnum

from rlclinic.model.lazy_dataclass import dataclass


class Trajectory(StrEnum):
    """Where the return is heading."""

    RISING = "rising"
    FLAT = "flat"
    FALLING = "falling"
    UNCLEAR = "unclear"
    """Too little was logged, or the return is not logged at all."""


class Advice(StrEnum):
    """What to do with the process."""

    CONTINUE = "continue"
    STOP = "stop"
    """Nothing is gained by waiting: the goal is held, or hardly in reach."""
    RESTART = "restart"
    """The leading cause cannot fix itself: the rest of the budget is lost as configured."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What becomes of the return by the end of the budget if it goes on as it does now."""

    probability: float
    """Of reaching the goal within the budget."""
    value: float
    """Level at the end of the budget, in the middle of the possible futures."""
    low: float
    """Lower end of the 90% interval of that level."""
    high: float
    step: float | None = None
    """Step at which the goal is expected, in the middle of the futures that reach it."""
    step_low: float | None = None
    step_high: float | None = None


@dataclass(frozen=True, slots=True)
class Outlook:
    """The outlook of one running run."""

    trajectory: Trajectory
    summary: str
    """The course so far in one sentence with numbers."""
    advice: Advice
    reason: str
    progress: float | None = None
    """Share of the budget that is used."""
    goal: float | None = None
    """The return that counts as success."""
    goal_origin: str = ""
    """Who says so, in words."""
    expectation: Expectation | None = None
    """None where the goal, the budget or points enough are missing; `reason` then says which."""
    seconds_left: float | None = None
    """Wall time to the end of the budget at the speed so far."""
