"""The faults as data: one small file each.

id = "E1"                           # of the merged catalogue of injected faults; its letter is the group
group = "E"
title = "the learning rate is far too high"
accepted = ["learning-rate-too-high"]   # causes that count as right; frozen before anything was scored
judged_on = "evaluation"            # optional: what shows the harm; `training`, or `none` for what harms no policy
component = "done mask"             # optional: for a patched trainer, in the words of the mutants
cases = { cartpole-ppo = ["gross"] }    # base -> levels; the first cases are recorded first, the last ones not at all.
                                    # None where the fault is recorded beside the plan alone
further = { mountaincar-ppo = ["gross"] }   # optional: base -> levels that are recorded however many cases there are

[levels.gross]                      # from gross to near the edge; each has one or more of
set = { gamma = 0.2 }               #   values over those of the base
scale = { learning_rate = 60.0 }    #   factors on the values of the base
of_budget = { learning_starts = 0.9 }   #   shares of the budget
wrap = [{ id = "module:Class", key = 1 }]   #   wrappers around the environment
edits = [{ file = "", old = "", new = "" }] #   patched components, in the form of the mutants of the probes
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bench.faults.bases import PARTS, Base, bases, bases_beside
from bench.mutants.catalogue import Edit
from rlclinic.causes.catalogue import catalogue as causes
from rlclinic.lab.recipe import Recipe, Wrapper

FOLDER = Path(__file__).with_name("catalogue")
GROUPS = "ABCDEFG"
JUDGED_ON = ("evaluation", "training", "none")
_REQUIRED = frozenset({"id", "group", "title", "accepted", "cases", "levels"})
_OPTIONAL = frozenset({"judged_on", "component", "further"})


class BadFault(ValueError):  # noqa: N818 - reads as what it is
    """A fault file that cannot be used."""


@dataclass(frozen=True, slots=True)
class Level:
    """How strongly a fault is injected."""

    set: Mapping[str, Any] = field(default_factory=dict)
    scale: Mapping[str, float] = field(default_factory=dict)
    of_budget: Mapping[str, float] = field(default_factory=dict)
    wrap: tuple[Wrapper, ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def touched(self) -> frozenset[str]:
        """Settings that it changes."""
        return frozenset((*self.set, *self.scale, *self.of_budget))

    def inject(self, recipe: Recipe) -> Recipe:
        """The recipe with the fault; edits are applied by the process that trains it."""
        changes: dict[str, Any] = dict(self.set)
        for key, factor in self.scale.items():
            value = recipe.total_steps if key == "total_steps" else recipe.number(key)
            if value is None:
                raise BadFault(f"{recipe.environment} {recipe.algorithm} has no {key} to scale")
            changes[key] = max(round(value * factor), 1) if isinstance(recipe.get(key, 0), int) else value * factor
        changes |= {key: int(share * recipe.total_steps) for key, share in self.of_budget.items()}
        if self.wrap:
            changes["env_wrappers"] = (*recipe.wrappers, *self.wrap)
        if "total_steps" in changes:
            share = changes["total_steps"] / recipe.total_steps
            changes |= {"eval_freq": int(recipe.eval_every * share), "log_freq": int(recipe.log_every * share)}
        return recipe.with_changes(changes)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault."""

    id: str
    group: str
    title: str
    cause: str
    """The first of the accepted: what was injected."""
    accepted: frozenset[str]
    cases: Mapping[str, tuple[str, ...]]
    levels: Mapping[str, Level]
    judged_on: str = "evaluation"
    component: str = ""
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def faults() -> Mapping[str, Fault]:
    """Every fault by its id."""
    found: dict[str, Fault] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        fault = _checked(tomllib.loads(path.read_text(encoding="utf-8")), path.name, bases())
        if fault.id in found:
            raise BadFault(f"{path.name}: {fault.id} is there twice")
        found[fault.id] = fault
    return found


def _checked(raw: Mapping[str, Any], name: str, known: Mapping[str, Base]) -> Fault:
    missing, strange = _REQUIRED - set(raw), set(raw) - _REQUIRED - _OPTIONAL
    if missing or strange:
        raise BadFault(f"{name}: lacks {sorted(missing)}, does not know {sorted(strange)}")
    levels = {level: _level(entry) for level, entry in raw["levels"].items()}
    cases, further = (_levels_by_base(raw.get(key, {})) for key in ("cases", "further"))
    used = {level for chosen in (*cases.values(), *further.values()) for level in chosen} | _levels_beside(raw["id"])
    wrong = {
        "causes": set(raw["accepted"]) - set(causes()),
        "bases": {*cases, *further} - set(known) | set(cases) & set(further),
        "levels": used ^ set(levels),
        "words": {raw["group"]} - set(GROUPS) | {raw.get("judged_on", "evaluation")} - set(JUDGED_ON),
    }
    for what, entries in wrong.items():
        if entries:
            raise BadFault(f"{name}: {what} {sorted(entries)} do not fit")
    if not raw["accepted"] or not raw["id"].startswith(raw["group"]):
        raise BadFault(f"{name}: no accepted cause, or an id of another group")
    accepted = {"cause": raw["accepted"][0], "accepted": frozenset(raw["accepted"])}
    return Fault(**{**raw, **accepted, "cases": cases, "further": further, "levels": levels})


def _levels_beside(fault: str) -> set[str]:
    """Those that are recorded beside the plan."""
    named = (text.split() for part in PARTS for base in bases_beside(part).values() for text in base.faults)
    return {words[1] for words in named if words[0] == fault}


def _levels_by_base(raw: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {base: tuple(chosen) for base, chosen in raw.items()}


def _level(raw: Mapping[str, Any]) -> Level:
    wrap = [Wrapper(entry["id"], {k: v for k, v in entry.items() if k != "id"}) for entry in raw.get("wrap", ())]
    edits = [Edit(**entry) for entry in raw.get("edits", ())]
    return Level(**{**raw, "wrap": tuple(wrap), "edits": tuple(edits)})
