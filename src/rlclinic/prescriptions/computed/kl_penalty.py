"""The weight of the KL to the reference model, in whichever place the run has it."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.target import COARSE, rounded
from rlclinic.prescriptions.turn import Turn

# What GRPO examples of verl and TRL use when the penalty is switched on.
USUAL = 0.001


def weaker_kl(case: Case) -> tuple[Turn, ...]:
    """A third of the weight in force."""
    key = _key(case)
    value = case.number(key) if key else None
    return (Turn(key, rounded(key, value / COARSE)),) if key and value else ()


def stronger_kl(case: Case) -> tuple[Turn, ...]:
    """Three times the weight in force; the usual one where there is none."""
    key = _key(case) or ("kl_loss_coef" if "kl_loss_coef" in case.run.config else "")
    if not key:
        return ()
    value = case.number(key)
    turns = [Turn(key, rounded(key, COARSE * value) if value else USUAL)]
    if key == "kl_loss_coef" and case.run.config.get("use_kl_loss") is False:
        turns.append(Turn("use_kl_loss", True))
    return tuple(turns)


def kl_out_of_reward(case: Case) -> tuple[Turn, ...]:
    """The KL as a loss instead of inside the reward, with the weight it had."""
    config = case.run.config
    if config.get("use_kl_in_reward") is not True or "use_kl_loss" not in config:
        return ()
    turns = [Turn("use_kl_in_reward", False)]
    if config.get("use_kl_loss") is False:
        turns.append(Turn("use_kl_loss", True))
    return tuple(turns)


def _key(case: Case) -> str:
    config = case.run.config
    if config.get("use_kl_loss") is True or (case.number("kl_loss_coef") and "use_kl_loss" not in config):
        return "kl_loss_coef"
    if config.get("use_kl_in_reward") is True or (case.number("kl_coef") and "use_kl_in_reward" not in config):
        return "kl_coef"
    return ""
