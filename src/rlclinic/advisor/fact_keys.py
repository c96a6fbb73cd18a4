"""The facts that advice may depend on: what kind of value each has, and how it is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reference.table_file import load_table

KINDS = ("yes-no", "number", "share", "name")
SOURCES = frozenset({"env", "dataset", "run"})
YES, NO = frozenset({"yes", "true", "y"}), frozenset({"no", "false", "n"})


@dataclass(frozen=True, slots=True)
class FactKey:
    """One key of a problem description."""

    key: str
    name: str
    """What a report calls it."""
    kind: str
    choices: tuple[str, ...] = ()
    unit: str = ""
    ask: str = ""
    """The question; empty for what is only measured or read."""
    sources: tuple[str, ...] = ()
    """Who else can tell: an environment, a data set, a run."""

    @property
    def answers(self) -> str:
        """What may be said, in words."""
        if self.kind == "choice":
            return ", ".join(self.choices[:-1]) + f" or {self.choices[-1]}"
        words = {"yes-no": "yes or no", "share": "0 to 1", "name": "a name", "number": "a number"}[self.kind]
        return f"{words} of {self.unit}" if self.unit else words

    def parse(self, value: object) -> object:
        """A value as conditions compare it; ValueError says what is expected."""
        if self.kind == "yes-no":
            word = str(value).strip().lower()
            if word in YES | NO:
                return word in YES
        elif self.kind == "choice":
            # YAML reads a bare `no` as False.
            word = "no" if value is False and "no" in self.choices else str(value).strip().lower()
            if word in self.choices:
                return word
        elif self.kind == "name":
            if isinstance(value, str) and value.strip():
                return value.strip().upper()
        elif (number := _number(value)) is not None and (self.kind == "number" or 0.0 <= number <= 1.0):
            return number
        raise ValueError(f"{self.key} is {self.answers}, not {value!r}")


@cache
def fact_keys() -> Mapping[str, FactKey]:
    """All keys, as facts.toml lists them."""
    found: dict[str, FactKey] = {}
    for group, entries in load_table(Path(__file__).with_name("facts.toml")).items():
        for name, entry in entries.items():
            key, kind, sources = f"{group}.{name}", entry["kind"], tuple(entry.get("from", ()))
            choices = tuple(kind) if isinstance(kind, list) else ()
            unknown = set(entry) - {"name", "kind", "ask", "from", "unit"}
            if unknown or not (choices or kind in KINDS) or set(sources) - SOURCES:
                raise ValueError(f"facts.toml: {key} is no valid entry")
            whole = "choice" if choices else kind
            unit, ask = entry.get("unit", ""), entry.get("ask", "")
            found[key] = FactKey(key, entry["name"], whole, choices, unit, ask, sources)
    return found


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(str(value).replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
