"""A remedy in words, for the docs."""

from __future__ import annotations

from rlclinic.model.prescription import PrescriptionKind
from rlclinic.prescriptions.remedies.computed import COMPUTED
from rlclinic.prescriptions.remedies.table import Remedy, RemedyOption
from rlclinic.prescriptions.wording import begun

WAYS = {
    "up": "one step up",
    "down": "one step down",
    "reference": "to the value that works for this environment, else the algorithm's default",
}


def remedy_lines(remedy: Remedy) -> list[str]:
    """What is done, in order of preference, and what to watch."""
    if remedy.none:
        return [f"Nothing: {remedy.none}."]
    lines = [f"{_where(item)}{_what(item)} Risk: {item.risk} ({item.safety.value})" for item in remedy.options]
    watch = f"; watch {', '.join(f'`{name}`' for name in remedy.watch)}" if remedy.watch else ""
    return [*lines, f"Stage {remedy.stage.value}, reach {remedy.reach.value}{watch}."]


def _what(option: RemedyOption) -> str:
    if option.kind is not PrescriptionKind.CONFIG:
        return f"{option.kind.value.capitalize()}: {option.instruction}"
    if option.how == "compute":
        told = (COMPUTED[option.by].__doc__ or "").strip()
        return f"Config: {begun(told)}"
    value = "removed" if option.to is None else f"set to `{option.to}`"
    way = value if option.how == "set" else WAYS[option.how]
    return f"Config: `{option.key}` {way}. {option.note}".rstrip()


def _where(option: RemedyOption) -> str:
    kinds = [*option.frameworks, *option.algorithms, *(f"{family} algorithms" for family in option.families)]
    return f"({', '.join(kinds)}) " if kinds else ""
