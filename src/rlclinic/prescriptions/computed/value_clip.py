"""A value clip that the returns fit into: off where the framework can, else as wide as the returns need."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.computed.reward_scale import reward_divisor
from rlclinic.prescriptions.turn import Turn

# gymnasium-solver accepts values below 1 only and cannot switch the clip off.
WIDEST_THERE = 0.99


def wider_value_clip(case: Case) -> tuple[Turn, ...]:
    """Switch clipping off, or widen it past the returns.

    RLlib clips the squared error, so there the clip grows with the square of the returns. rl-zoo takes numbers only.
    """
    clip, framework = case.number("clip_range_vf"), case.run.framework
    if framework == "gymnasium-solver":
        return (Turn("clip_range_vf", WIDEST_THERE),) if clip is None or clip < WIDEST_THERE else ()
    if case.run.config.get("clip_value_loss") is True:
        return (Turn("clip_value_loss", False),)
    if framework == "rllib":
        return (Turn("clip_range_vf", (10.0 * reward_divisor(case)) ** 2),)
    if framework == "sb3-zoo" and clip is not None:
        wide = 10.0 * reward_divisor(case)
        return (Turn("clip_range_vf", wide),) if clip < wide else ()
    return (Turn("clip_range_vf", None),) if clip is not None else ()
