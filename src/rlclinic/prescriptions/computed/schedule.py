"""A learning rate that lasts as long as the budget and does not grow: constant, where the schedule is at fault."""

from __future__ import annotations

import numpy as np

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# Share of the start value at which a linear schedule of gymnasium-solver may end.
LAST_SHARE = 0.1
# Factor by which a logged rate must have grown over the run; a warm-up grows too, but ends within the first half.
GROWN = 3.0


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


def steady_rate(case: Case) -> tuple[Turn, ...]:
    """A constant rate, where the log shows that the schedule raised it to the end."""
    series = case.run.series.get("learning_rate")
    finite = series.values[np.isfinite(series.values)] if series is not None else np.empty(0)
    if finite.size < 4 or finite[-1] < GROWN * max(finite[finite.size // 2], 0.0):
        return ()
    return schedule_over_budget(case)
