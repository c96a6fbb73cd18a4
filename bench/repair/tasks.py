"""The tasks of the benchmark: clean recipes, faults, and the floor that a random policy sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from bench.random_policy import random_return
from rlclinic.lab.assemble import assemble
from rlclinic.lab.backend import default_framework
from rlclinic.lab.recipe import Recipe
from rlclinic.reference.reference_configs import has_reference_config, reference_config

TABLE = Path(__file__).with_name("tasks.yaml")
SCALED = "bench.repair.environments:ScaledReward"
# Episodes of random actions behind the floor, and their seed.
FLOOR_EPISODES, FLOOR_SEED = 50, 12345
# Evaluations of a run and episodes of each: enough for a curve, a fifth of the default's cost.
EVALUATIONS, EPISODES = 12, 5


@dataclass(frozen=True, slots=True)
class Task:
    """One environment with one algorithm."""

    name: str
    known: bool
    """Whether rlclinic's tables have an entry for it."""
    config: Mapping[str, Any]
    faults: Mapping[str, Mapping[str, Any]]
    fresh: bool = False
    """Whether no rule was made with a look at it."""

    def clean(self) -> Recipe:
        """The recipe that learns. A single lucky evaluation does not end a run: its final level counts."""
        return _recipe({**_start(self.config), **self.config})

    def faulty(self, fault: str) -> Recipe:
        """The clean recipe with a fault."""
        return self._in_units(self.clean().with_changes(self.faults[fault]), fault)

    def reset(self, fault: str) -> Recipe:
        """Every hyperparameter as the reference has it, else the library's default; the environment stays."""
        kept = {key: self.config[key] for key in ("env_id", "algorithm", "total_steps")}
        wrappers = {key: value for key, value in self.faults.get(fault, {}).items() if key == "env_wrappers"}
        return self._in_units(_recipe({**_start(self.config), **kept, **wrappers}), fault)

    def unit(self, fault: str) -> float:
        """How many of its returns make one of the clean task: the factor of a fault in the reward's scale."""
        wrappers = self.faults.get(fault, {}).get("env_wrappers", ())
        return float(np.prod([entry["factor"] for entry in wrappers if entry["id"] == SCALED]))

    def _in_units(self, recipe: Recipe, fault: str) -> Recipe:
        """Whoever scales the reward scales the goal."""
        unit = self.unit(fault)
        if recipe.threshold is None or unit == 1.0:
            return recipe
        return recipe.with_changes({"threshold": unit * recipe.threshold})


@cache
def tasks() -> Mapping[str, Task]:
    """All tasks by name."""
    raw = yaml.safe_load(TABLE.read_text(encoding="utf-8"))["tasks"]
    found = {
        name: Task(name, entry["known"], entry["config"], entry["faults"], entry.get("fresh", False))
        for name, entry in raw.items()
    }
    for task in found.values():
        if has_reference_config(str(task.config["env_id"]), str(task.config["algorithm"])) != task.known:
            raise ValueError(f"{TABLE.name}: {task.name} says known: {task.known}, the tables say otherwise")
    return found


@cache
def floor(name: str) -> float:
    """Mean return of random actions on the clean task."""
    return random_return(tasks()[name].clean(), episodes=FLOOR_EPISODES, seed=FLOOR_SEED)


def _start(config: Mapping[str, Any]) -> dict[str, Any]:
    return dict(reference_config(str(config["env_id"]), str(config["algorithm"])))


def _recipe(values: Mapping[str, Any]) -> Recipe:
    framework = default_framework(str(values["algorithm"]))
    own = {"eval_freq": int(values["total_steps"]) // EVALUATIONS, "eval_episodes": EPISODES}
    config = {"stop_at_threshold": False, "checkpoint_freq": 0, **own, **values, "framework": framework}
    return assemble(config, own_words=set(config)).recipe
