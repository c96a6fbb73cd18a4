"""The runs of plan.toml, and which of them are only ever tested."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TEST_TASKS = frozenset({"reverse", "search"})
TEST_TRAINERS = frozenset({"rloo"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One run."""

    kind: str
    accepted: frozenset[str]
    spec: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.spec['task']}-{self.spec['seed']}"

    @property
    def harmless(self) -> bool:
        """Whether nothing is wrong."""
        return not self.accepted

    @property
    def side(self) -> str:
        tested = self.spec["task"] in TEST_TASKS or self.spec["trainer"] in TEST_TRAINERS
        return "test" if tested else "development"

    @property
    def layout(self) -> str:
        """What of TRL's output a diagnosis gets: the state that it saves, or what it prints."""
        return ("state", "console")[self.spec["seed"] % 2]


@cache
def plan() -> tuple[Entry, ...]:
    """All runs, first seeds first."""
    table = tomllib.loads(Path(__file__).with_name("plan.toml").read_text(encoding="utf-8"))
    base, found = table.pop("base"), []
    for kind, row in table.items():
        own = {key: value for key, value in row.items() if key not in ("accepted", "runs", "config")}
        config = {**base["config"], **row.get("config", {})}
        for task, seeds in row["runs"].items():
            spec = {"trainer": "grpo", **base, **own, "config": config, "task": task}
            found += [Entry(kind, frozenset(row["accepted"]), {**spec, "seed": seed}) for seed in seeds]
    return tuple(sorted(found, key=lambda entry: entry.spec["seed"]))
