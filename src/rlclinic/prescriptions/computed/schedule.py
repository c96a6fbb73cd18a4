"""A learning rate that lasts as long as the budget: constant, where the schedule ended early."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# Share of the start value at which a linear schedule of gymnasium-solver may end.
LAST_SHARE = 0.1


def schedule_over_budget(case: Case) -> tuple[Turn, ...]:
    """Switch the decay off, or end it at a tenth of its start."""
    config, framework = case.run.config, case.run.framework
    schedule, rate = config.get("learning_rate_schedule"), case.number("learning_rate")
    if schedule is True and framework in ("cleanrl", "torchrl", "tianshou"):
        return (Turn("learning_rate_schedule", False),)
    if rate and framework == "gymnasium-solver" and schedule:
        return (Turn("learning_rate_final", LAST_SHARE * rate),)
    if isinstance(schedule, str) and schedule not in ("", "constant"):
        return (Turn("learning_rate_schedule", "constant"),)
    return ()
