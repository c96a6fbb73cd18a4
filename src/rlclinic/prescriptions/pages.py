"""A remedy in words, for the docs."""

from __future__ import annotations

from rlclinic.model.prescription import PrescriptionKind
from rlclinic.prescriptions.computed import COMPUTED
from rlclinic.prescriptions.remedies import Remedy, Row

WAYS = {
    "up": "one step up",
    "down": "one step down",
    "reference": "to the value that works for this environment, else the algorithm's default",
}


def remedy_lines(remedy: Remedy) -> list[str]:
    """What is done, in order of preference, and what to watch."""
    if remedy.none:
        return [f"Nothing: {remedy.none}."]
    lines = [f"{_where(row)}{_what(row)} Risk: {row.risk} ({row.safety.value})" for row in remedy.rows]
    watch = f"; watch {', '.join(f'`{name}`' for name in remedy.watch)}" if remedy.watch else ""
    return [*lines, f"Stage {remedy.stage.value}, reach {remedy.reach.value}{watch}."]


def _what(row: Row) -> str:
    if row.kind is not PrescriptionKind.CONFIG:
        return f"{row.kind.value.capitalize()}: {row.instruction}"
    if row.how == "compute":
        told = (COMPUTED[row.by].__doc__ or "").strip()
        return f"Config: {told[0].lower()}{told[1:]}"
    if row.how == "set":
        return f"Config: `{row.key}` {'removed' if row.to is None else f'set to `{row.to}`'}. {row.note}".rstrip()
    return f"Config: `{row.key}` {WAYS[row.how]}. {row.note}".rstrip()


def _where(row: Row) -> str:
    kinds = [*row.frameworks, *row.algorithms, *(f"{family} algorithms" for family in row.families)]
    return f"({', '.join(kinds)}) " if kinds else ""
