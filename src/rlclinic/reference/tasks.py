"""Well-known tasks: what counts as solved, what a random policy gets, how episodes end, how fast others were."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.reference.environment_names import environment_id, environment_name, is_plain_id
from rlclinic.reference.reference_configs import (
    has_reference_config,
    log_position,
    reference_config,
    reference_spread,
)
from rlclinic.reference.table_file import load_table

__all__ = [
    "PublishedScore",
    "Task",
    "has_reference_config",
    "log_position",
    "published_scores",
    "reference_config",
    "reference_spread",
    "task_of",
]

Group = Literal["classic", "mujoco", "atari"]
Ends = Literal["goal", "survival", "either", "limit"]
GROUPS = ("classic", "mujoco", "atari")
ENDS = ("goal", "survival", "either", "limit")
_VERSION = re.compile(r"-v\d+$")


@dataclass(frozen=True, slots=True)
class Task:
    """One task, as tasks.yaml describes it."""

    name: str
    """Environment id without its version."""
    group: Group
    ends: Ends
    """What ends an episode before its limit: reaching the goal, a failure to survive, either, or nothing."""
    max_episode_steps: int | None
    threshold: float | None
    """Registered reward threshold."""
    target: float | None
    """The level that `steps_to_target` is about: the threshold, or a level few runs miss where there is none."""
    random_mean: float | None
    random_std: float | None
    random_length: float | None
    """Mean episode length under random actions."""
    best_return: float | None
    steps_to_target: Mapping[str, float] = field(default_factory=dict)
    """Env steps by algorithm; upper bounds of single published runs."""

    def scaled(self, factor: float) -> Task:
        """The task with all rewards times a factor above 0."""
        names = ("threshold", "target", "random_mean", "random_std", "best_return")
        known = {name: value for name in names if (value := getattr(self, name)) is not None}
        return replace(self, **{name: factor * value for name, value in known.items()})


@lru_cache(maxsize=256)
def task_of(environment: str) -> Task | None:
    """The well-known task that an environment id or a longer name means; None where it is none of them."""
    tasks, variants = _tables()
    found = environment_name(environment, tasks)
    if found is None:
        return None
    return variants.get((found.base, found.version), tasks[found.base])


@lru_cache(maxsize=1024)
def environment_of_path(name: str) -> str:
    """The environment id that the name of a folder or project holds; empty where it holds none."""
    tasks = _tables()[0]
    return environment_id(name, [base for base, task in tasks.items() if task.group != "atari"])


@cache
def least_steps(group: Group) -> float:
    """The fewest env steps in which a published run of such tasks reached its target."""
    tasks = (task for task in _tables()[0].values() if task.group == group)
    return min(steps for task in tasks for steps in task.steps_to_target.values())


def examinable(environment: str) -> str:
    """The id by which an environment can be made; a place for the user's own factory where its name is none."""
    found = environment_name(environment, _tables()[0])
    if found is not None and found.version is not None:
        name = f"{found.base}-v{found.version}"
        # Atari's names have a namespace without which they are not registered.
        return environment if environment.endswith(f"/{name}") and is_plain_id(environment) else name
    # What is registered for all has a version; a bare name is one that only the user's own code knows.
    registered = found is not None or _VERSION.search(environment) is not None
    return environment if registered and is_plain_id(environment) else "MODULE:make_env"


@dataclass(frozen=True, slots=True)
class PublishedScore:
    """A final return that somebody published."""

    value: float
    steps: float | None
    source: str
    environment: str


@lru_cache(maxsize=256)
def published_scores(environment: str, algorithm: str) -> tuple[PublishedScore, ...]:
    """The published returns of an algorithm on a task; empty where there are none."""
    table = _published()
    found = environment_name(environment, table)
    rows = table[found.base].get(algorithm.upper(), []) if found is not None else []
    return tuple(PublishedScore(float(value), number(steps), source, name) for value, steps, source, name in rows)


@cache
def _published() -> Mapping[str, Mapping[str, list[list[Any]]]]:
    return load_table(Path(__file__).with_name("published.yaml"))


@cache
def _tables() -> tuple[Mapping[str, Task], Mapping[tuple[str, int | None], Task]]:
    raw = load_table(Path(__file__).with_name("tasks.yaml"))
    tasks = {name: _task(name, entry) for name, entry in raw["tasks"].items()}
    variants: dict[tuple[str, int | None], Task] = {}
    for name, entry in raw["variants"].items():
        task = _task(name, {**raw["tasks"][name], **entry})
        variants.update({(name, int(version)): task for version in entry["versions"]})
    return MappingProxyType(tasks), MappingProxyType(variants)


def _task(name: str, raw: Mapping[str, Any]) -> Task:
    if raw["group"] not in GROUPS or raw["ends"] not in ENDS:
        raise ValueError(f"tasks.yaml: {name} has the unknown group or ending {raw['group']!r}, {raw['ends']!r}")
    mean, std, length = raw["random"]
    return Task(
        name=name,
        group=raw["group"],
        ends=raw["ends"],
        max_episode_steps=raw["limit"],
        threshold=number(raw["threshold"]),
        target=number(raw["target"]),
        random_mean=number(mean),
        random_std=number(std),
        random_length=number(length),
        best_return=number(raw["best"]),
        steps_to_target=MappingProxyType({key: float(value) for key, value in raw["steps"].items()}),
    )
