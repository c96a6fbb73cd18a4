"""More steps: what others needed on this environment, else twice as many."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

TWICE = 2.0


def larger_budget(case: Case) -> tuple[Turn, ...]:
    """The reference budget where it is larger, else twice the budget. Language models count updates."""
    budget = case.budget
    if not budget:
        return ()
    key = "total_steps" if case.run.step_axis == "env_steps" else "total_updates"
    if key == "total_updates" and case.run.step_axis not in ("updates", "iterations"):
        return ()
    known = case.reference_number("total_steps") if case.has_entry and key == "total_steps" else None
    return (Turn(key, round(known if known and known > budget else TWICE * budget)),)
