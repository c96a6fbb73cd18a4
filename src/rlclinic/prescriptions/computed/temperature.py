"""SAC's temperature: learned towards the usual target entropy."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

AUTO = "auto"
# Frameworks in which `auto` learns the temperature, and those in which it is the usual target entropy.
BY_WORD = frozenset({"sb3", "sb3-zoo", "rlclinic"})
TARGET_BY_WORD = BY_WORD | {"rllib"}


def learned_temperature(case: Case) -> tuple[Turn, ...]:
    """Switch the learning of the temperature on; where it is on, take a target entropy of the user's own back."""
    config = case.run.config
    if config.get("autotune_alpha") is False:
        return (Turn("autotune_alpha", True),)
    if case.run.framework in BY_WORD and case.number("ent_coef") is not None:
        return (Turn("ent_coef", AUTO),)
    target = config.settings.get("target_entropy")
    if case.run.framework in TARGET_BY_WORD and target is not None and not target.is_default and target.value != AUTO:
        return (Turn("target_entropy", AUTO),)
    return ()
