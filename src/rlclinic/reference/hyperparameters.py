"""The canonical hyperparameters: a validated table of names, kinds and titles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.reference.table_file import load_table

KINDS = frozenset({"number", "integer", "flag", "text", "any"})


@dataclass(frozen=True, slots=True)
class Hyperparameter:
    """One canonical hyperparameter."""

    name: str
    kind: str
    title: str
    group: str


# What counts write for "as many as there are": a mode, not a number.
MODE = -1


def amount(name: str, value: object) -> float | None:
    """The number that a value of a hyperparameter is; None for a mode, such as -1 of a count or `auto`."""
    entry = hyperparameters().get(name)
    is_mode = value == MODE and entry is not None and entry.kind == "integer"
    return None if is_mode else number(value)


@cache
def hyperparameters() -> Mapping[str, Hyperparameter]:
    """All canonical hyperparameters by name."""
    table: dict[str, Hyperparameter] = {}
    for group, entries in load_table(Path(__file__).with_name("hyperparameters.toml")).items():
        for name, entry in entries.items():
            if entry["kind"] not in KINDS:
                raise ValueError(f"hyperparameters.toml: {name} has the unknown kind {entry['kind']!r}")
            if name in table:
                raise ValueError(f"hyperparameters.toml: {name} stands twice")
            table[name] = Hyperparameter(name, entry["kind"], entry["title"], group)
    return table
