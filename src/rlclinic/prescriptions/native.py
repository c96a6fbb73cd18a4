"""Changes in the user's own words: what cannot be said in them is not prescribed as a config change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rlclinic.model.prescription import Change, Native
from rlclinic.model.run import Run

# The dialects are imported where they are used: a healthy run needs none, and they cost more than its diagnosis.


def native_of(run: Run, changes: Sequence[Change]) -> Native | None:
    """The changes in the user's syntax; None where there are none or no syntax of the framework can say them."""
    from rlclinic.prescriptions.syntax import write

    return write(run, changes) if changes else None


def with_written_keys(run: Run, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes under the keys that the syntax writes, where each has one of its own."""
    return tuple(replace(change, native_key=_written_key(run, change)) for change in changes)


def _written_key(run: Run, change: Change) -> str:
    from rlclinic.prescriptions.syntax import CannotWrite, assignments, dialects_of

    for dialect in dialects_of(run):
        try:
            found = assignments(run, (change,), dialect)
        except CannotWrite:
            continue
        if len(found) == 1 and isinstance(found[0].after, dict) and (part := _part(found[0].after, change.after)):
            return f"{found[0].key}.{part}"
        # A key that a trainer saved of itself, or that stands for several arguments, is not what anybody typed.
        plain = len(found) == 1 and not found[0].key.startswith("_") and not isinstance(found[0].after, dict)
        if plain and _is_number(found[0].after) and found[0].after != change.after:
            # The key counts in other units, such as 1 - tau: beside the canonical numbers it would mislead.
            return change.key
        return found[0].key if plain else change.native_key
    return change.native_key


def _part(mapping: dict[str, object], number: object) -> str:
    """The one entry of a mapping that is this number."""
    parts = [name for name, value in mapping.items() if _is_number(number) and value == number]
    return parts[0] if len(parts) == 1 else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
