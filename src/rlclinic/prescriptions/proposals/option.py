"""What one option of a remedy would change in this run, before anything is checked or written."""

from __future__ import annotations

from collections.abc import Iterable

from rlclinic.model.prescription import Change, PrescriptionKind
from rlclinic.model.vocabulary import FAMILIES
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.constraints import fitted, problems
from rlclinic.prescriptions.proposals.native_settings import native_settings
from rlclinic.prescriptions.remedies.careful_step import stepped
from rlclinic.prescriptions.remedies.computed import COMPUTED
from rlclinic.prescriptions.remedies.table import RemedyOption
from rlclinic.prescriptions.setting_change import Changes, SettingChange, change_to


def fits(assessment: Assessment, option: RemedyOption) -> bool:
    """Whether an option is for this framework and algorithm."""
    if option.frameworks and assessment.run.framework not in option.frameworks:
        return False
    if option.algorithms and assessment.run.algorithm not in option.algorithms:
        return False
    # Where the algorithm is not known every family is possible, but that of language models shows in what is logged.
    possible = assessment.families or FAMILIES.keys() - {"language-model"}
    return not option.families or not possible.isdisjoint(option.families)


def option_changes(assessment: Assessment, option: RemedyOption) -> Changes:
    """The hyperparameters and their new values; empty where the option has nothing to offer."""
    if option.how == "compute":
        return COMPUTED[option.by](assessment)
    if option.how == "set":
        return change_to(option.key, option.to)
    here = assessment.number(option.key)
    if option.how == "reference":
        known = assessment.reference_number(option.key)
        begins = here if here is not None else assessment.default_number(option.key)
        if known is None or (begins is not None and option.only and (known > begins) != (option.only == "up")):
            return ()
        return change_to(option.key, known)
    after = stepped(assessment, option.key, up=option.how == "up")
    if after is None:
        return ()
    return change_to(option.key, after) + (_companions(assessment, option, here, after) if here else ())


def main_keys(assessment: Assessment, changes: Changes) -> set[str]:
    """The keys that a remedy is about, as written by the user: companions alone are no remedy."""
    return {change.key for change in (*native_settings(assessment, changes[:1]), *changes)}


def unwritable(assessment: Assessment, options: Iterable[RemedyOption]) -> str:
    """Why the first config option with a value to offer cannot be written in the user's syntax; empty where it can."""
    from rlclinic.prescriptions.syntax import AlreadySo, CannotWrite, render

    run = assessment.run
    for option in options:
        if option.kind is not PrescriptionKind.CONFIG or not fits(assessment, option):
            continue
        wanted = fitted(assessment, option_changes(assessment, option))
        changes = [Change(key, key, run.config.get(key), to) for key, to in native_settings(assessment, wanted)]
        if not changes or problems(assessment, wanted):
            continue
        try:
            render(run, changes)
        except AlreadySo:
            continue
        except CannotWrite as refusal:
            return refusal.message
    return ""


def _companions(assessment: Assessment, option: RemedyOption, here: float, after: float) -> Changes:
    """Settings that change by the same factor, where the user set them."""
    found = []
    for key in option.also:
        setting, value = assessment.run.config.settings.get(key), assessment.number(key)
        if value and setting is not None and not setting.is_default:
            found.append(SettingChange(key, float(f"{value * after / here:.2g}")))
    return tuple(found)
