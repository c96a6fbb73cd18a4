"""The clean configurations of the benchmark, loaded and validated."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bench.random_policy import random_return
from rlclinic.lab.assemble import assemble
from rlclinic.lab.backend import default_framework
from rlclinic.lab.recipe import Recipe, Wrapper
from rlclinic.reference.reference_configs import reference_config

TABLE = Path(__file__).with_name("bases.toml")
PARTS = {name: Path(__file__).with_name(f"{name}.toml") for name in ("fresh", "known")}
"""Of what was recorded beside the plan: on tasks of ours, and on well-known ones."""
SIDES = ("development", "test")
LEDGER = Wrapper("bench.faults.environments.ledger:TrueReturns")
"""Innermost of every run."""
REACHED_WITHIN = 0.6
"""Share of the budget within which a clean run reaches its target: undertrained is not the norm."""
EVALUATIONS, EVALUATION_EPISODES, ROWS = 10, 5, 80
"""Of a whole run."""
FLOOR_EPISODES, FLOOR_SEED = 60, 4321


@dataclass(frozen=True, slots=True)
class Base:
    """One environment with one algorithm, and settings that work."""

    name: str
    env_id: str
    algorithm: str
    total_steps: int
    target: float
    random: float
    """Mean return of random actions, as `measured_floor` gives it."""
    settings: Mapping[str, Any]
    decoys: tuple[Mapping[str, Any], ...]
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    """Of a base beside the plan, which names its own: `fault level [layout]`. The catalogue names those of the plan."""
    side: str = "test"
    """Of such a base: what development may look at, and what is scored once."""

    @property
    def environment(self) -> str:
        """The environment without the algorithm: the first word of the name."""
        return self.name.partition("-")[0]

    def recipe(self, seed: int) -> Recipe:
        """The clean run of a seed."""
        framework = default_framework(self.algorithm)
        config = {
            **reference_config(self.env_id, self.algorithm),
            "stop_at_threshold": False,
            "checkpoint_freq": 0,
            "eval_freq": self.total_steps // EVALUATIONS,
            "eval_episodes": EVALUATION_EPISODES,
            "log_freq": self.total_steps // ROWS,
            **self.settings,
            "env_id": self.env_id,
            "env_kwargs": dict(self.env_kwargs),
            "env_wrappers": [LEDGER],
            "algorithm": self.algorithm,
            "framework": framework,
            "total_steps": self.total_steps,
            "seed": seed,
            "threshold": None,
        }
        return assemble(config, own_words=set(self.settings)).recipe


def measured_floor(base: Base) -> float:
    """Mean return of random actions on the task."""
    return random_return(base.recipe(0), episodes=FLOOR_EPISODES, seed=FLOOR_SEED)


@cache
def bases() -> Mapping[str, Base]:
    """The bases of the plan by name."""
    return _loaded(TABLE)


@cache
def bases_beside(part: str) -> Mapping[str, Base]:
    """Those of a part beside the plan by name."""
    return _loaded(PARTS[part])


def base_of(name: str) -> Base:
    """A base of any part."""
    return next(found[name] for found in (bases(), *map(bases_beside, PARTS)) if name in found)


def _loaded(table: Path) -> Mapping[str, Base]:
    raw = tomllib.loads(table.read_text(encoding="utf-8"))
    lists = {name: {key: tuple(entry.get(key, ())) for key in ("decoys", "faults")} for name, entry in raw.items()}
    found = {name: Base(name=name, **{**entry, **lists[name]}) for name, entry in raw.items()}
    for base in found.values():
        keys = [key for decoy in base.decoys for key in decoy]
        if len(base.settings) < 3 or len(keys) < 3:
            raise ValueError(f"{table.name}: {base.name} needs three deviations and three decoys")
        if base.side not in SIDES:
            raise ValueError(f"{table.name}: {base.name} has the unknown side {base.side!r}")
    return found
