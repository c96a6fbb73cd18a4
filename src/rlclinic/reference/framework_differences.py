"""What frameworks do differently under the same algorithm, and how much a setting matters: one table, validated."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from importlib.resources import files
from typing import Any

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reference.framework import heads
from rlclinic.reference.hyperparameters import hyperparameters

WEIGHTS: Mapping[str, float] = {"strong": 3.0, "moderate": 1.5, "slight": 0.5}
"""By word; the numbers order, they measure nothing."""
# A setting that the table does not name.
UNNAMED = 1.0
OWN = "own"
"""The user's script decides."""
# Frameworks that train with another's code.
SAME_AS = {"sb3-zoo": "sb3", "rlclinic": "sb3"}
_FIELDS = frozenset({"id", "key", "title", "weight", "algorithms", "why", "values"})


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One thing that frameworks do differently."""

    id: str
    title: str
    weight: str
    algorithms: tuple[str, ...]
    why: str
    values: Mapping[str, str]
    """By framework."""
    key: str = ""
    """The canonical setting that it goes with."""

    def of(self, framework: str) -> str:
        """What a framework does; empty where that is not known or the user's own."""
        found = self.values.get(SAME_AS.get(framework, framework), "")
        return "" if found == OWN else found

    def differs(self, first: str, second: str) -> bool:
        """Whether two frameworks do different things unless the user says so."""
        return self.of(first).partition(" unless ")[0] != self.of(second).partition(" unless ")[0]


@dataclass(frozen=True, slots=True)
class Differences:
    """The whole table."""

    behaviours: tuple[Behaviour, ...]
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    weights: Mapping[str, str] = field(default_factory=dict)
    """By canonical setting its word."""


def weight_of(key: str) -> float:
    """How much a difference of a setting matters before anything is known about the run."""
    word = differences().weights.get(key)
    return UNNAMED if word is None else WEIGHTS[word]


def behaviours_apart(algorithm: str, first: str, second: str) -> tuple[Behaviour, ...]:
    """What two frameworks do differently for an algorithm, what matters most first."""
    found = [
        item
        for item in differences().behaviours
        if algorithm in item.algorithms and item.of(first) and item.of(second) and item.differs(first, second)
    ]
    return tuple(sorted(found, key=lambda item: -WEIGHTS[item.weight]))


@cache
def differences() -> Differences:
    """The table, loaded once."""
    return load_differences(files(__package__).joinpath("framework_differences.toml").read_text(encoding="utf-8"))


def load_differences(text: str) -> Differences:
    """Parse and validate the text of the table."""
    raw = tomllib.loads(text)
    known = {head.id for head in heads()}
    sources: Mapping[str, Mapping[str, str]] = raw["sources"]
    if set(sources) - known or any(set(entry) != {"version", "where"} for entry in sources.values()):
        raise ValueError("framework_differences.toml: [sources] names an unknown framework or lacks version or where")
    weights: dict[str, str] = {}
    for word, keys in raw["weights"].items():
        bad = [key for key in keys if key in weights or key not in hyperparameters()]
        if word not in WEIGHTS or bad:
            raise ValueError(f"framework_differences.toml: weights.{word}: unknown or twice: {', '.join(bad) or word}")
        weights |= dict.fromkeys(keys, word)
    return Differences(tuple(_behaviour(entry, sources) for entry in raw["behaviour"]), sources, weights)


def _behaviour(raw: Mapping[str, Any], sources: Mapping[str, object]) -> Behaviour:
    name = raw.get("id", "?")
    if set(raw) - _FIELDS or raw.get("weight") not in WEIGHTS or set(raw.get("values", {})) - set(sources):
        raise ValueError(f"framework_differences.toml: {name}: unknown field, weight or framework without a source")
    if raw.get("key") and raw["key"] not in hyperparameters():
        raise ValueError(f"framework_differences.toml: {name}: {raw['key']} is no canonical setting")
    return Behaviour(**{**raw, "algorithms": tuple(raw["algorithms"])})
