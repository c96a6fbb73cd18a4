"""A trust region that lets the policy move: target KL, KL penalty, or the terms of MM-RKHS."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.target import COARSE, FINE, rounded
from rlclinic.prescriptions.turn import Turn

# A target KL below this stops healthy PPO updates, which move by 0.005 to 0.02.
USUAL_KL = 0.02


def wider_trust_region(case: Case) -> tuple[Turn, ...]:
    """Take the stop away where it can never be reset, else widen it to the usual size."""
    target = case.number("target_kl")
    if case.run.algorithm == "MM-RKHS":
        return _mirror_step(case)
    if target is None:
        return ()
    if case.run.framework == "gymnasium-solver":
        return (Turn("target_kl", None),)
    wider = max(FINE * target, USUAL_KL) if target < USUAL_KL else FINE * target
    return (Turn("target_kl", rounded("target_kl", wider)),)


def _mirror_step(case: Case) -> tuple[Turn, ...]:
    if case.saw("mmd-outweighs-objective"):
        weight = case.number("mmd_coef")
        return (Turn("mmd_coef", rounded("mmd_coef", weight / COARSE)),) if weight else ()
    eta = case.number("eta")
    return (Turn("eta", rounded("eta", eta * COARSE)),) if eta else ()
