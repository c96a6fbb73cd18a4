"""Double Q-learning, where it is a switch that is off."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn


def double_q(case: Case) -> tuple[Turn, ...]:
    """Choose the next action by the online network, value it by the target network (van Hasselt et al. 2016)."""
    return (Turn("double_q", True),) if case.run.config.get("double_q") is False else ()
