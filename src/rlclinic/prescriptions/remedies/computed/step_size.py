"""How far an update goes: a learning rate that lasts as long as the budget, and a trust region that lets it act."""

from __future__ import annotations

from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.remedies.careful_step import FINE, rounded, stepped
from rlclinic.prescriptions.setting_change import Changes, change_to

# Share of the start value at which a linear schedule of gymnasium-solver may end.
LAST_SHARE = 0.1
# Factor by which a logged rate must have grown over the run; a warm-up grows too, but ends within the first half.
GROWN = 3.0
# A target KL below this stops healthy PPO updates, which move by 0.005 to 0.02.
USUAL_KL = 0.02


def schedule_over_budget(assessment: Assessment) -> Changes:
    """Switch the decay off, or end it at a tenth of its start."""
    framework, rate = assessment.run.framework, assessment.number("learning_rate")
    schedule = assessment.run.config.get("learning_rate_schedule")
    if schedule is True and framework in ("cleanrl", "torchrl", "tianshou"):
        return change_to("learning_rate_schedule", False)
    if rate and framework == "gymnasium-solver" and schedule:
        return change_to("learning_rate_final", LAST_SHARE * rate)
    if isinstance(schedule, str) and schedule not in ("", "constant"):
        return change_to("learning_rate_schedule", "constant")
    return ()


def steady_rate(assessment: Assessment) -> Changes:
    """A constant rate, where the log shows that the schedule raised it to the end."""
    rates = assessment.logged("learning_rate")
    if rates.size < 4 or rates[-1] < GROWN * max(rates[rates.size // 2], 0.0):
        return ()
    return schedule_over_budget(assessment)


def wider_trust_region(assessment: Assessment) -> Changes:
    """Take the stop away where it can never be reset, else widen it to the usual size."""
    if assessment.run.algorithm == "MM-RKHS":
        return _mirror_step(assessment)
    target = assessment.number("target_kl")
    if target is None:
        return ()
    if assessment.run.framework == "gymnasium-solver":
        return change_to("target_kl", None)
    wider = max(FINE * target, USUAL_KL) if target < USUAL_KL else FINE * target
    return change_to("target_kl", rounded("target_kl", wider))


def _mirror_step(assessment: Assessment) -> Changes:
    """The terms that play the part of a trust region in MM-RKHS."""
    key, up = ("mmd_coef", False) if assessment.saw("mmd-outweighs-objective") else ("eta", True)
    after = stepped(assessment, key, up=up) if assessment.number(key) else None
    return change_to(key, after) if after is not None else ()
