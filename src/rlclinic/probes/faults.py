"""The table of faults: the component each lies in, and which cases it touches."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from rlclinic.model.lazy_dataclass import dataclass

LISTS = ("fails", "may_fail", "untrained")
"""Fields that list cases."""


@dataclass(frozen=True, slots=True)
class FaultEntry:
    """One fault."""

    id: str
    component: str
    title: str
    fails: tuple[str, ...] = ()
    may_fail: tuple[str, ...] = ()
    untrained: tuple[str, ...] = ()
    like: str = ""
    """Another fault whose readings this one leads to as well."""


@cache
def faults() -> Mapping[str, FaultEntry]:
    """Every fault by its id."""
    text = resources.files("rlclinic.probes").joinpath("faults.toml").read_text(encoding="utf-8")
    found = {}
    for name, row in tomllib.loads(text).items():
        extra = set(row) - {"component", "title", "like", *LISTS}
        if extra:
            raise ValueError(f"faults.toml: {name} has the unknown field {sorted(extra)[0]!r}")
        lists = {key: tuple(row.get(key, ())) for key in LISTS}
        found[name] = FaultEntry(name, row["component"], row["title"], **lists, like=row.get("like", ""))
    unknown = {entry.like for entry in found.values()} - {"", *found}
    if unknown:
        raise ValueError(f"faults.toml: there is no fault {sorted(unknown)[0]!r}")
    return found


def components() -> tuple[str, ...]:
    """The words for components, in the order of the table."""
    return tuple(dict.fromkeys(entry.component for entry in faults().values()))


def touches(patterns: tuple[str, ...], code: str, case: str, query: str) -> bool:
    """Does a list of `CODE`, `CODE.case` and `CODE.case:beginning of a query` name this query?"""
    return any(
        pattern in (code, f"{code}.{case}") or (":" in pattern and f"{code}.{case}:{query}".startswith(pattern))
        for pattern in patterns
    )
