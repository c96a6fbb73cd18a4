"""A change under the user's own key, with the value in force and the new one in canonical terms.

Schedules are given by their start: the syntax layer keeps the form in which the user wrote them.
"""

from __future__ import annotations

from functools import cache

from rlclinic.model.prescription import Change
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.constraints import is_whole
from rlclinic.prescriptions.turn import Turn
from rlclinic.reference.framework import framework


def change_of(case: Case, turn: Turn) -> Change | None:
    """The change; None where it changes nothing or where the framework has no such setting."""
    native = native_key(case, turn.key)
    if native is None:
        return None
    setting = case.run.config.settings.get(turn.key)
    before = setting.value if setting is not None and not setting.is_default else case.number(turn.key)
    if before is None:
        before = case.run.config.get(turn.key)
    after = _whole(turn.key, before, turn.to)
    same = isinstance(before, bool) == isinstance(after, bool) and before == after
    return None if same else Change(turn.key, native, before, after)


def native_key(case: Case, key: str) -> str | None:
    """The key as the user writes it; None where the framework is known and has none."""
    setting = case.run.config.settings.get(key)
    # A key with an underscore in front is what a trainer saved of itself, not what anybody typed.
    if setting is not None and " / " not in setting.native_key and not setting.native_key.startswith("_"):
        return setting.native_key
    names = _names(case.run.framework, case.run.algorithm, key)
    return key if names is None else next(iter(names), None) or _written_key(case, key)


def _written_key(case: Case, key: str) -> str | None:
    """The key of a setting that is written but never logged, such as an argument of the optimiser."""
    from rlclinic.prescriptions.syntax import dialects_of
    from rlclinic.prescriptions.syntax.translate import native_key as key_of_dialect

    keys = (key_of_dialect(case.run, key, dialect.names) for dialect in dialects_of(case.run))
    return next((found for found in keys if found), None)


def as_text(value: object) -> str:
    """A value as a person reads it: plain decimals, no exponent above a millionth."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value)) if abs(value) >= 10 else f"{value:.1f}"
    if isinstance(value, float) and 1e-7 <= abs(value) < 1:
        return f"{value:.10f}".rstrip("0")
    return str(value)


@cache
def _names(framework_id: str, algorithm: str, key: str) -> tuple[str, ...] | None:
    table = framework(framework_id).hyperparameters
    names = list(table)
    if not names:
        return None
    found = []
    for name in names:
        entries = table.find(name)
        if entries is None or "*" in name or name.startswith("_"):
            continue
        meaning = next((e.name for e in entries[1] if not e.algorithms or algorithm.upper() in e.algorithms), "")
        if meaning == key:
            found.append(name)
    return tuple(found)


def _whole(key: str, before: object, to: object) -> object:
    if isinstance(to, bool) or not isinstance(to, float) or not to.is_integer():
        return to
    counts = isinstance(before, int) and not isinstance(before, bool) and abs(to) >= 1
    return int(to) if is_whole(key) or counts else to
