"""Condense recorded healthy runs into the JSON files of the package, a band for each metric."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.faults import shards
from bench.faults.plan import Instance
from bench.faults.replay import replay
from bench.reference.record import FOLDER, SEEDS, Pair, pairs
from rlclinic.comparison.bands import levels
from rlclinic.comparison.partings import FOLLOWERS
from rlclinic.comparison.settings import learning_settings
from rlclinic.model.run import Run
from rlclinic.model.vocabulary import metric
from rlclinic.reference.environment_names import environment_name

PLACE = Path("src/rlclinic/reference/known_good")
DIGITS = 4
KEPT = ("return/train", "return/eval", "episode_length")


def healthy(pair: Pair) -> list[shards.Record]:
    """The recorded healthy runs of a pair."""
    if pair.base:
        return [record for record in shards.latest() if record.name.partition("#")[0] == f"clean@{pair.base}"]
    wanted = {f"{pair.name}#{seed}" for seed in SEEDS}
    return [record for record in shards.latest(FOLDER) if record.name in wanted]


def run_of(record: shards.Record, folder: Path) -> Run:
    """The run of a record, as a reader sees its whole folder."""
    # Of another layout than the lab's nothing is left out.
    return replay(record, Instance("clean", "cartpole-ppo", layout="whole"), folder)


def write() -> None:
    """The files of every pair that has at least two recorded seeds."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for pair in pairs().values():
        if not pair.kept:
            continue
        found = healthy(pair)
        if len(found) < 2:
            print(f"{pair.name}: {len(found)} seeds recorded, at least 2 are needed")
            continue
        data = condensed(pair, found)
        base = environment_name(data["environment"], [data["environment"].rpartition("-v")[0]])
        path = PLACE / f"{base.base if base else data['environment']}.{data['algorithm']}.json"
        path.write_text("\n".join(_lines(data)) + "\n", encoding="utf-8")
        size = path.stat().st_size / 1000
        print(f"{path.name}: {len(data['seeds'])} seeds, {len(data['metrics'])} metrics, {size:.0f} kB")


def condensed(pair: Pair, records: list[shards.Record]) -> dict[str, Any]:
    """What a file holds."""
    runs = []
    for record in records:
        with tempfile.TemporaryDirectory() as place:
            runs.append(run_of(record, Path(place)))
    budget = float(records[0].recipe["total_steps"])
    names = [name for name in runs[0].series if _is_kept(name) and all(name in run.series for run in runs)]
    environment, _, algorithm = pair.name.rpartition(":")
    command = f"rlclinic train {environment}:{algorithm.lower()} --steps {pair.steps} --seed N"
    return {
        "environment": environment,
        "algorithm": algorithm,
        "framework": "torchrl" if algorithm in ("REINFORCE", "MM-RKHS") else "sb3",
        "budget": budget,
        "seeds": [int(record.recipe["seed"]) for record in records],
        "made_by": f"clean runs of the fault benchmark, base {pair.base}" if pair.base else command,
        "settings": {key: value for key, value in learning_settings(runs[0]).items() if key != "env_wrappers"},
        "metrics": {name: [_rounded(levels(run.series[name], budget)) for run in runs] for name in names},
    }


def _is_kept(name: str) -> bool:
    return metric(name) is not None and (name in KEPT or name.partition("/")[0] not in FOLLOWERS)


def _rounded(values: Any) -> list[float | None]:
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in values]


def _lines(data: dict[str, Any]) -> Iterator[str]:
    """JSON with a line for each row of numbers: a change of one seed is a change of its lines."""
    head = {key: value for key, value in data.items() if key != "metrics"}
    yield json.dumps(head, indent=1)[:-2] + ","
    yield ' "metrics": {'
    for place, (name, rows) in enumerate(data["metrics"].items()):
        inner = ",\n   ".join(json.dumps(row).replace(" ", "") for row in rows)
        end = "," if place + 1 < len(data["metrics"]) else ""
        yield f'  "{name}": [\n   {inner}\n  ]{end}'
    yield " }\n}"
