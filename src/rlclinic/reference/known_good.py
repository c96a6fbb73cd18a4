"""Known-good runs: what healthy seeds of a task and algorithm logged, by share of their budget.

One JSON file for each task and algorithm in known_good/, made by `python -m bench.reference write`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.model.vocabulary import metric
from rlclinic.reference.environment_names import environment_name
from rlclinic.reference.hyperparameters import hyperparameters

SHARES = 20
"""Stretches of the budget, each with the mean of a metric in it."""


@dataclass(frozen=True, slots=True)
class KnownGood:
    """Healthy runs of one config that differ in their seeds alone."""

    environment: str
    algorithm: str
    framework: str
    budget: float
    seeds: tuple[int, ...]
    made_by: str
    """The command, or the part of the benchmark, that they come from."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """By canonical name; what is not there was not in force."""
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)
    """By canonical name one row for each seed, SHARES columns; nan where nothing was logged."""


def known_good(environment: str, algorithm: str) -> KnownGood | None:
    """The known-good runs of a task and algorithm; None where none are kept."""
    names = [name for name, other in pairs() if other == algorithm.upper()]
    found = environment_name(environment, names) if environment else None
    return None if found is None else _load(found.base, algorithm.upper())


@cache
def pairs() -> tuple[tuple[str, str], ...]:
    """Every environment id without its version and algorithm of which runs are kept."""
    folder = files(__package__).joinpath("known_good")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".json"))
    return tuple((base, algorithm) for name in names for base, _, algorithm in [name[: -len(".json")].partition(".")])


@lru_cache(maxsize=8)
def _load(base: str, algorithm: str) -> KnownGood:
    name = f"{base}.{algorithm}.json"
    return parse_known_good(files(__package__).joinpath("known_good", name).read_text(encoding="utf-8"), name)


def parse_known_good(text: str, name: str) -> KnownGood:
    """Parse and validate the text of one file."""
    raw: dict[str, Any] = json.loads(text)
    seeds = tuple(raw["seeds"])
    rows = {key: np.array(values, dtype=np.float64) for key, values in raw["metrics"].items()}
    wrong = [key for key, value in rows.items() if metric(key) is None or value.shape != (len(seeds), SHARES)]
    wrong += sorted(set(raw["settings"]) - set(hyperparameters()))
    if wrong:
        raise ValueError(f"{name}: unknown, or not {len(seeds)} rows of {SHARES}: {', '.join(wrong)}")
    return KnownGood(**{**raw, "seeds": seeds, "metrics": rows})
