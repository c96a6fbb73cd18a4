"""The mutants as data: what each replaces, where, and which component that breaks.

A file of a folder in FOLDERS is a group:

    [[mutant]]
    id = "done-mask-dropped"
    title = "terminations are bootstrapped"
    trainers = ["ppo", "a2c"]           # modules of bench/mutants/trainers
    component = "done mask"             # a word of the ladder; several where they name the same line of code
    seen_in = "RLinf#1568"              # optional: where the bug was found
    likely = ["P1"]                     # optional: probes that a first-kill run tries first; the score ignores it
    file = "on_policy.py"               # the text `old` stands in it exactly once
    old = 'gamma * (1 - terminated[step]) * next_values[step]'
    new = 'gamma * next_values[step]'
    more = [{file = "...", old = "...", new = "..."}]   # optional: further replacements
    equivalent = true                   # optional: no bug, so no probe may fail
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench.mutants.registry import TRAINERS

HERE = Path(__file__).parent
SOURCES = HERE / "trainers"
FOLDERS = {"textbook": HERE / "textbook", "from_fixes": HERE / "from_fixes"}
"""Bugs that anybody would think of, and bugs that were really fixed somewhere."""
VARIANTS = "variants"
"""Folder and origin of correct trainers of another make; they name no component and are all equivalent."""
_REQUIRED = ("id", "title", "trainers", "component", "file", "old", "new")
_OPTIONAL = ("seen_in", "likely", "more", "equivalent")


class BadMutant(ValueError):  # noqa: N818 - reads as what it is
    """A mutant that cannot be planted."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement in the reference trainers."""

    file: str
    old: str
    new: str

    def apply(self, text: str) -> str:
        """The text with the replacement."""
        found = text.count(self.old)
        if found != 1:
            raise BadMutant(f"{self.file} holds {self.old.strip()!r} {found} times instead of once")
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One implementation bug, or an equivalent change."""

    id: str
    title: str
    group: str
    origin: str
    """`textbook`, `from_fixes` or `variants`."""
    trainers: tuple[str, ...]
    components: tuple[str, ...]
    edits: tuple[Edit, ...]
    seen_in: str = ""
    likely: tuple[str, ...] = ()
    equivalent: bool = False


@cache
def mutants() -> Mapping[str, Mutant]:
    """Every mutant by its id, in the order of the files."""
    return _loaded(FOLDERS)


@cache
def variants() -> Mapping[str, Mutant]:
    """Every correct variant by its id."""
    return _loaded({VARIANTS: HERE / VARIANTS})


def _loaded(folders: Mapping[str, Path]) -> Mapping[str, Mutant]:
    found: dict[str, Mutant] = {}
    for origin, folder in folders.items():
        for path in sorted(folder.glob("*.toml")):
            for row in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
                mutant = _checked(row, origin, path.stem)
                if mutant.id in found:
                    raise BadMutant(f"{path.name}: {mutant.id} is there twice")
                found[mutant.id] = mutant
    return found


def _checked(row: Mapping[str, Any], origin: str, group: str) -> Mutant:
    name = row.get("id", "?")
    if origin == VARIANTS:
        row = {"component": (), "equivalent": True, **row}
    missing = [field for field in _REQUIRED if field not in row]
    unknown = set(row) - {*_REQUIRED, *_OPTIONAL}
    if missing or unknown:
        raise BadMutant(f"{group}.toml, {name}: lacks {missing}, does not know {sorted(unknown)}")
    strangers = set(row["trainers"]) - set(TRAINERS)
    if strangers or not row["trainers"]:
        raise BadMutant(f"{group}.toml, {name}: no trainers {sorted(strangers)}")
    component = row["component"]
    return Mutant(
        id=name,
        title=row["title"],
        group=group,
        origin=origin,
        trainers=tuple(row["trainers"]),
        components=(component,) if isinstance(component, str) else tuple(component),
        edits=tuple(Edit(item["file"], item["old"], item["new"]) for item in (row, *row.get("more", ()))),
        seen_in=row.get("seen_in", ""),
        likely=tuple(row.get("likely", ())),
        equivalent=bool(row.get("equivalent", False)),
    )
