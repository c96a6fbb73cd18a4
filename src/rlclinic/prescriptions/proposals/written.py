"""Changes in the user's own words: what cannot be said in them is not prescribed as a config change.

The values stay canonical. Schedules are given by their start: the syntax layer keeps the form in which the user wrote
them. Its dialects are imported where they are used: a healthy run needs none, and they cost more than its diagnosis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from rlclinic.model.numbers import number
from rlclinic.model.prescription import Change, Native
from rlclinic.model.run import Run
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.constraints import is_whole
from rlclinic.prescriptions.setting_change import SettingChange
from rlclinic.reference.framework import framework


def change_of(assessment: Assessment, change: SettingChange) -> Change | None:
    """The change with the value in force; None where it changes nothing or the framework has no such setting."""
    key, config = change.key, assessment.run.config
    native = _native_key(assessment.run, key)
    if native is None:
        return None
    setting = config.settings.get(key)
    before = setting.value if setting is not None and not setting.is_default else assessment.number(key)
    if before is None:
        before = config.get(key)
    after = _whole(key, before, change.to)
    if isinstance(before, float) and before.is_integer() and type(after) is int:
        before = int(before)
    same = isinstance(before, bool) == isinstance(after, bool) and before == after
    return None if same else Change(key, native, before, after)


def native_of(run: Run, changes: Sequence[Change]) -> Native | None:
    """The changes in the user's syntax; None where no syntax of the framework can say them exactly."""
    from rlclinic.prescriptions.syntax import CannotWrite, render

    try:
        return render(run, changes)
    except CannotWrite:
        return None


def with_written_keys(run: Run, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes under the keys that the syntax writes, where each has one of its own."""
    return tuple(replace(change, native_key=_written_key(run, change)) for change in changes)


def _native_key(run: Run, key: str) -> str | None:
    """The key as the user writes it; None where the framework is known and has none."""
    setting = run.config.settings.get(key)
    # A key with an underscore in front is what a trainer saved of itself, not what anybody typed.
    if setting is not None and not setting.is_derived and not setting.native_key.startswith("_"):
        return setting.native_key
    names = _names(run.framework, run.algorithm, key)
    if names:
        return names[0]
    return key if names is None else _unlogged_key(run, key)


def _unlogged_key(run: Run, key: str) -> str | None:
    """The key of a setting that is written but never logged, such as an argument of the optimiser."""
    from rlclinic.prescriptions.syntax import dialects_of
    from rlclinic.prescriptions.syntax.translate import native_key

    keys = (native_key(run, key, dialect.names) for dialect in dialects_of(run))
    return next((found for found in keys if found), None)


@cache
def _names(framework_id: str, algorithm: str, key: str) -> tuple[str, ...] | None:
    """The keys of the framework's table that mean this hyperparameter; None where the framework has no table."""
    table = framework(framework_id).hyperparameters
    found = []
    for name in table:
        entries = table.find(name)
        if entries is None or "*" in name or name.startswith("_"):
            continue
        meaning = next((e.name for e in entries[1] if not e.algorithms or algorithm.upper() in e.algorithms), "")
        if meaning == key:
            found.append(name)
    return tuple(found) if list(table) else None


def _written_key(run: Run, change: Change) -> str:
    from rlclinic.prescriptions.syntax import CannotWrite, assignments, dialects_of

    for dialect in dialects_of(run, (change,)):
        try:
            found = assignments(run, (change,), dialect)
        except CannotWrite:
            continue
        key, after = found[0].key, found[0].after
        if len(found) == 1 and isinstance(after, dict):
            wanted = number(change.after)
            parts = [name for name, value in after.items() if wanted is not None and value == change.after]
            return f"{key}.{parts[0]}" if len(parts) == 1 else change.native_key
        # A key that a trainer saved of itself, or that stands for several arguments, is not what anybody typed.
        if len(found) != 1 or key.startswith("_"):
            return change.native_key
        # A key that counts in other units, such as 1 - tau, would mislead beside the canonical numbers.
        return change.key if number(after) is not None and after != change.after else key
    return change.native_key


def _whole(key: str, before: object, to: object) -> object:
    if not isinstance(to, float) or not to.is_integer():
        return to
    counts = isinstance(before, int) and not isinstance(before, bool) and abs(to) >= 1
    return int(to) if is_whole(key) or counts else to
