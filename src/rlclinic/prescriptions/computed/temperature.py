"""SAC's temperature: learned towards the usual target entropy."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

AUTO = "auto"
# How each framework says "learn the temperature".
BY_WORD = frozenset({"sb3", "sb3-zoo", "rlclinic"})


def learned_temperature(case: Case) -> tuple[Turn, ...]:
    """Switch the learning of the temperature on; where it is on, take a target entropy of the user's own back."""
    config = case.run.config
    if config.get("autotune_alpha") is False:
        return (Turn("autotune_alpha", True),)
    if case.run.framework in BY_WORD and case.number("ent_coef") is not None:
        return (Turn("ent_coef", AUTO),)
    target = config.settings.get("target_entropy")
    if case.run.framework in BY_WORD and target is not None and not target.is_default and target.value != AUTO:
        return (Turn("target_entropy", AUTO),)
    return ()
