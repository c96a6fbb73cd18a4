"""A larger entropy bonus for policy gradients."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.target import stepped
from rlclinic.prescriptions.turn import Turn

# Above this a bonus outweighs normalised advantages; the largest in working PPO and A2C configs is 0.06.
LARGEST = 0.05


def larger_entropy_bonus(case: Case) -> tuple[Turn, ...]:
    """One step up, from zero to a hundredth; never above what working configs use."""
    value = case.number("ent_coef")
    if value is not None and value >= LARGEST:
        return ()
    after = stepped(case, "ent_coef", up=True)
    if after is None or after <= (value or 0.0):
        # The entry for this environment works without a bonus: the smallest usual one is the careful step.
        after = 0.01 if not value else min(LARGEST, 3.0 * value)
    return (Turn("ent_coef", min(after, LARGEST)),)
