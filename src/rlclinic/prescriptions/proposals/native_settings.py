"""The setting that the user really writes: some count minibatches, budget updates, or adapt the rate to a KL."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rlclinic.model.numbers import number
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.remedies.careful_step import FINE, rounded
from rlclinic.prescriptions.setting_change import Changes, SettingChange

# Schedules that set the learning rate from the KL of the last update: there the target KL decides how fast it learns.
ADAPTIVE = frozenset({"adaptive", "KLAdaptiveLR", "KLAdaptiveRL"})
# What a budget is counted in where it is not env steps.
COUNTED = ("total_updates", "total_epochs")
BUDGETS = frozenset({"total_steps", *COUNTED})
"""Settings that say how long to train."""
# Frameworks whose users write the number of minibatches; a batch size in their logs is only computed.
COUNT_MINIBATCHES = frozenset({"cleanrl", "rsl_rl", "skrl", "openai-baselines"})


def native_settings(assessment: Assessment, changes: Sequence[SettingChange]) -> Changes:
    """The changes in terms of what is written in the user's config; those that cannot be written are left out."""
    wanted = {change.key: number(change.to) for change in changes}
    replaced = (_replaced(assessment, change, wanted) for change in changes)
    return tuple(change for change in replaced if change is not None)


def _replaced(
    assessment: Assessment, change: SettingChange, wanted: Mapping[str, float | None]
) -> SettingChange | None:
    key, to = change.key, wanted[change.key]
    if key == "batch_size" and _counts_minibatches(assessment):
        steps, envs = (wanted.get(name, assessment.number(name)) for name in ("n_steps", "n_envs"))
        if steps is None or envs is None or to is None:
            return None
        return SettingChange("n_minibatches", max(1, round(steps * envs / to)))
    if key == "learning_rate" and str(assessment.run.config.get("learning_rate_schedule")) in ADAPTIVE:
        target, rate = assessment.number("target_kl"), assessment.number("learning_rate")
        if target is None or rate is None or to is None:
            return None
        return SettingChange("target_kl", rounded("target_kl", target * FINE if to > rate else target / FINE))
    if key == "n_steps" and (assessment.is_derived("n_steps") or "n_steps" not in assessment.run.config):
        size, steps = assessment.number("rollout_size"), assessment.number("n_steps")
        if not size or not steps or to is None or assessment.is_derived("rollout_size"):
            return None
        return SettingChange("rollout_size", round(size * to / steps))
    if key == "total_steps" and (assessment.is_derived("total_steps") or assessment.number("total_steps") is None):
        return _counted_budget(assessment, change, to)
    return None if assessment.is_derived(key) else change


def _counts_minibatches(assessment: Assessment) -> bool:
    if not assessment.number("n_minibatches") or assessment.is_derived("n_minibatches"):
        return False
    return assessment.run.framework in COUNT_MINIBATCHES or assessment.is_derived("batch_size")


def _counted_budget(assessment: Assessment, change: SettingChange, steps: float | None) -> SettingChange | None:
    """The budget in updates or epochs, where the config counts these."""
    before = assessment.budget
    if steps is None or not before:
        return None
    counts = {unit: count for unit in COUNTED if (count := assessment.number(unit))}
    for unit, count in counts.items():
        if not assessment.is_derived(unit):
            # A part of an update more than asked is no other experiment.
            return SettingChange(unit, math.ceil(count * steps / before))
    return change if assessment.run.config.get("total_steps") is None and not counts else None
