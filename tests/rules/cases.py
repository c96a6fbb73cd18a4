"""The table of cases.yaml: for each rule a run on which it fires and two on which it does not."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import yaml

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import FloatArray
from rlclinic.readers.open import read
from rlclinic.store.siblings import siblings_of
from tests.conftest import RUNS
from tests.rules.scene import NOISE, POINTS, line, recorded, scene

Role = Literal["positive", "near_miss", "healthy"]
ROLES: tuple[Role, ...] = ("positive", "near_miss", "healthy")
# What a curve of a constructed scene may be; the numbers after the word are its arguments.
CURVES = {
    "line": lambda start, end, noise=NOISE: line(start, end, noise=noise),
    "flat": lambda level, noise=NOISE: line(level, level, noise=noise),
    "long_flat": lambda level, noise=NOISE: line(level, level, 4 * POINTS, noise),
    "constant": lambda level: np.full(POINTS, level),
    "geometric": lambda start, end: np.geomspace(start, end, POINTS),
    "early_hill": lambda start, top, end: np.concatenate(
        [np.linspace(start, top, POINTS // 6), np.linspace(top, end, POINTS - POINTS // 6)]
    ),
    "bend": lambda start, level: np.concatenate([line(start, level, POINTS // 2), line(level, level, POINTS // 2)]),
    "pause": lambda interval, length: interval * np.arange(POINTS) + length * (np.arange(POINTS) > POINTS // 2),
    "values": lambda *values: np.asarray(values),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One run of one rule: recorded, or constructed for a reason."""

    code: str
    role: Role
    recorded: str
    scene: Mapping[str, Any]
    why: str
    """Why no training makes the case; for a near miss that is recorded, what is near."""
    severity: Severity | None
    """What a positive must say."""

    def facts(self, folder: Path) -> RunFacts:
        """The run; one that needs files gets them in `folder`."""
        if self.recorded:
            return recorded(self.recorded)
        if "compared" in self.scene:
            first, *others = (recorded(name).run for name in self.scene["compared"])
            return RunFacts(first, compared_with=others)
        return _seeds(folder, **self.scene["seeds"]) if "seeds" in self.scene else _built(self.scene)


@dataclass(frozen=True, slots=True)
class Healthy:
    """A recorded run that nothing is wrong with, and the rules that may speak about it."""

    name: str
    notes: frozenset[str]
    warnings: frozenset[str]


@cache
def cases() -> Mapping[str, tuple[Case, ...]]:
    """The three cases of each rule, by code."""
    return MappingProxyType(
        {
            code: tuple(_case(code, role, entry[role], scenes) for role in ROLES if role in entry)
            for scenes in [_table().get("scenes", {})]
            for code, entry in _table()["rules"].items()
        }
    )


def _case(code: str, role: Role, given: Mapping[str, Any], scenes: Mapping[str, Any]) -> Case:
    unknown = set(given) - {"run", "scene", "why", "severity"}
    if unknown:
        raise ValueError(f"{code} {role}: unknown keys {sorted(unknown)}")
    if ("run" in given) == ("scene" in given):
        raise ValueError(f"{code} {role}: either a recorded run or a scene")
    described = given.get("scene", {})
    return Case(
        code=code,
        role=role,
        recorded=given.get("run", ""),
        scene=scenes[described] if isinstance(described, str) else described,
        why=given.get("why", ""),
        severity=Severity(given["severity"]) if "severity" in given else None,
    )


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return table


def _built(described: Mapping[str, Any]) -> RunFacts:
    fields = dict(described)
    fields["series"] = {name: _curve(words) for name, words in fields.get("series", {}).items()}
    fields["details"] = {
        name: {field: _curve(words) for field, words in more.items()}
        for name, more in fields.get("details", {}).items()
    }
    return scene(**fields)


def _seeds(folder: Path, first: str, others: str) -> RunFacts:
    """A run beside three that differ in their seeds, all with the config of the first."""
    for index, name in enumerate((first, others, others, others)):
        target = folder / f"seed_{index}"
        shutil.copytree(RUNS / name, target)
        shutil.copy(RUNS / first / "config.yaml", target)
    run = read(folder / "seed_0")
    return RunFacts(run, partial(siblings_of, run))


def _curve(words: str) -> FloatArray:
    kind, *numbers = words.split()
    curve: FloatArray = CURVES[kind](*(float(number) for number in numbers))
    return curve


HEALTHY: tuple[Healthy, ...] = tuple(
    Healthy(name, frozenset(entry.get("notes", ())), frozenset(entry.get("warnings", ())))
    for name, entry in _table()["healthy"].items()
)
