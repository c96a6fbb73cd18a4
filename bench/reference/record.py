"""Train what is missing: known-good runs of every pair, and one run with a planted difference and one without it."""

from __future__ import annotations

import json
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench.faults import shards
from bench.faults.bases import base_of
from bench.faults.job import PRIVATE, columns, log_end

HERE = Path(__file__).parent
FOLDER = HERE / "runs"
SEEDS = (0, 1, 2)
# A seed that no known-good run has.
PLANTED_SEED = 7
ROWS = 80
"""Of a run's table: enough for its curves."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One task and algorithm, as pairs.toml describes it."""

    name: str
    steps: int = 0
    base: str = ""
    kept: bool = True
    planted: Mapping[str, Any] | None = None
    others: Mapping[str, Any] | None = None

    def runs(self) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
        """Name, seed and changed settings of every run of it that is trained here."""
        if not self.base:
            yield from ((f"{self.name}#{seed}", seed, {}) for seed in SEEDS)
        if self.planted is not None:
            rest = dict(self.others or {})
            yield f"{self.name}+planted", PLANTED_SEED, {**rest, **self.planted["set"]}
            yield f"{self.name}+others", PLANTED_SEED, rest


@cache
def pairs() -> Mapping[str, Pair]:
    """The table."""
    raw = tomllib.loads((HERE / "pairs.toml").read_text(encoding="utf-8"))
    return {name: Pair(name, **entry) for name, entry in raw.items()}


def record(only: str = "", minutes: float | None = None) -> int:
    """Train what no shard holds yet, runs without the planted difference last; how many were added."""
    import torch

    torch.set_num_threads(1)
    known = set(shards.keys(FOLDER))
    wanted = [(pair, *run) for pair in pairs().values() for run in pair.runs() if only in run[0]]
    wanted.sort(key=lambda item: item[1].endswith("+others"))
    end = time.monotonic() + 60.0 * minutes if minutes is not None else float("inf")
    added = 0
    for pair, name, seed, changes in wanted:
        if name in known or time.monotonic() > end:
            continue
        found = _trained(pair, name, seed, changes)
        shards.append(shards.encode(found), FOLDER)
        print(f"{name}  {found.seconds:.0f} CPU seconds", flush=True)
        added += 1
    return added


def _trained(pair: Pair, name: str, seed: int, changes: Mapping[str, Any]) -> shards.Record:
    from rlclinic.lab.asking import recipe_from
    from rlclinic.lab.train import prepare, train_folder

    if pair.base:
        recipe = base_of(pair.base).recipe(seed)
    else:
        environment, _, algorithm = pair.name.rpartition(":")
        recipe = recipe_from(f"{environment}:{algorithm.lower()}", [f"total_steps={pair.steps}", f"seed={seed}"])
        own = {"stop_at_threshold": False, "checkpoint_freq": 0, "log_freq": max(pair.steps // ROWS, 1)}
        recipe = recipe.with_changes(own)
    recipe = recipe.with_changes({**changes, "env_wrappers": []}).trusted()
    began = time.process_time()
    with tempfile.TemporaryDirectory() as root:
        folder = prepare(recipe, root)
        train_folder(folder, is_new=True, trust=recipe.trust)
        config = json.loads((folder.path / "config.json").read_text(encoding="utf-8"))
        status = json.loads((folder.path / "status.json").read_text(encoding="utf-8"))
        if status["state"] == "interrupted":
            raise SystemExit("interrupted")
        return shards.Record(
            name=name,
            key="",
            recipe=config,
            edits=(),
            versions=config.pop("rlclinic_versions", {}),
            seconds=round(time.process_time() - began, 1),
            truth={},
            status={key: value for key, value in status.items() if key not in PRIVATE},
            log=log_end(folder.path / "run.log", Path(root)),
            columns=columns(folder.path / "metrics.csv"),
        )
