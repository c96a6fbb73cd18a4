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
from bench.repair.script import FAULT, Script
from rlclinic.lab.assemble import assemble
from rlclinic.lab.backend import default_framework
from rlclinic.lab.recipe import Recipe
from rlclinic.reference.reference_configs import has_reference_config, reference_config

TABLE, STRANGERS = (Path(__file__).with_name(name) for name in ("tasks.yaml", "strangers.yaml"))
SCALED = "bench.repair.environments:ScaledReward"
# Episodes of random actions behind the floor, and their seed.
FLOOR_EPISODES, FLOOR_SEED = 50, 12345
# Evaluations of a run and episodes of each: enough for a curve, a fifth of the default's cost.
EVALUATIONS, EPISODES = 12, 5
Start = Recipe | Script
"""What a run begins with: a recipe of the lab, or a script with its flags."""


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
    script: str = ""
    """The training script that is run by command; empty where the lab trains."""
    is_stranger: bool = False
    """Whether it was fixed before any run of it was diagnosed, and counts by the first look alone."""

    def clean(self) -> Start:
        """The recipe that learns. A single lucky evaluation does not end a run: its final level counts."""
        if self.script:
            own = {key: self.config[key] for key in ("algorithm", "total_steps")}
            values = {key: value for key, value in self.config.items() if key not in (*own, "env_id")}
            return Script(environment=self.config["env_id"], values=values, **own)
        return _recipe({**_start(self.config), **self.config})

    def is_of_the_environment(self, fault: str) -> bool:
        """Whether a fault lies in the environment or its reward, so that no setting mends it."""
        wrappers = self.faults.get(fault, {}).get("env_wrappers", ())
        return FAULT in self.faults.get(fault, {}) or any(entry["id"] != SCALED for entry in wrappers)

    def faulty(self, fault: str) -> Start:
        """The clean recipe with a fault."""
        return self._in_units(self.clean().with_changes(self.faults[fault]), fault)

    def reset(self, fault: str) -> Start:
        """Every hyperparameter as the reference has it, else the library's default; the environment stays."""
        kept = {key: self.config[key] for key in ("env_id", "algorithm", "total_steps")}
        wrappers = {key: value for key, value in self.faults.get(fault, {}).items() if key == "env_wrappers"}
        return self._in_units(_recipe({**_start(self.config), **kept, **wrappers}), fault)

    def unit(self, fault: str) -> float:
        """How many of its returns make one of the clean task: the factor of a fault in the reward's scale."""
        wrappers = self.faults.get(fault, {}).get("env_wrappers", ())
        return float(np.prod([entry["factor"] for entry in wrappers if entry["id"] == SCALED]))

    def _in_units(self, recipe: Start, fault: str) -> Start:
        """Whoever scales the reward scales the goal."""
        unit = self.unit(fault)
        if isinstance(recipe, Script) or recipe.threshold is None or unit == 1.0:
            return recipe
        return recipe.with_changes({"threshold": unit * recipe.threshold})


@cache
def tasks() -> Mapping[str, Task]:
    """All tasks by name."""
    found = {
        name: Task(name=name, is_stranger=path is STRANGERS, **entry)
        for path in (TABLE, STRANGERS)
        for name, entry in yaml.safe_load(path.read_text(encoding="utf-8"))["tasks"].items()
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
