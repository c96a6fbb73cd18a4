"""Whether a return fell only because episodes got longer and each step costs something."""

from __future__ import annotations

from rlclinic.rules.patient import Patient

# How much longer episodes must have become.
LONGER = 1.5


def longer_episodes_cost_more(patient: Patient) -> bool:
    """A negative return over longer episodes whose cost per step went down: survival is being learned."""
    returns = patient.run.returns
    if returns is None:
        return False
    early, late = patient.early(returns.name), patient.late(returns.name)
    first, last = patient.early("episode_length"), patient.late("episode_length")
    if early is None or late is None or first is None or last is None or first.value <= 0 or last.value <= 0:
        return False
    if late.value >= 0 or last.value < LONGER * first.value:
        return False
    return late.value / last.value > early.value / first.value
