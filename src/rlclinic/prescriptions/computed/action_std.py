"""The initial spread of a Gaussian policy: what works here, else the usual start of 1 on actions in [-1, 1]."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# Half a natural log unit around the usual start is no fault.
CLOSE = 0.5


def usual_action_std(case: Case) -> tuple[Turn, ...]:
    """The reference log standard deviation (0 by default), or a standard deviation of 1."""
    spread = case.number("init_std")
    if spread is not None:
        return (Turn("init_std", 1.0),) if not 0.5 <= spread <= 2.0 else ()
    log_std = case.number("log_std_init")
    usual = case.reference_number("log_std_init") or 0.0
    return (Turn("log_std_init", usual),) if log_std is None or abs(log_std - usual) > CLOSE else ()
