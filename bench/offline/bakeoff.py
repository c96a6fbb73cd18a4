"""`python -m bench.offline.bakeoff FOLDER [--minutes M]`: the best algorithm on each data set, and the advised one.

FOLDER is that of `python -m bench.offline.datasets`. Every algorithm is trained once on every data set there; what its
last policy earns and what the advisor would have trained is a line of bench/offline/bakeoff.jsonl. It can be stopped
and goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rlclinic.advisor.advise import advise
from rlclinic.lab.offline.asking import CLONING, offline_recipe
from rlclinic.lab.train import train
from rlclinic.model.run import Status
from rlclinic.readers.open import read
from rlclinic.reference.algorithms import algorithm_name
from rlclinic.reference.tasks import task_of

RECORD = Path(__file__).with_suffix(".jsonl")
# CQL takes three times as long as others where actions are amounts.
CHOICES, AMOUNTS = ("bc", "filtered-bc", "cql"), ("bc", "filtered-bc", "td3-bc", "iql")
TASKS = {
    "cartpole": ("CartPole-v1", CHOICES),
    "pendulum": ("Pendulum-v1", AMOUNTS),
    "mountaincarcontinuous": ("MountainCarContinuous-v0", AMOUNTS),
}
EPISODES, UPDATES = 20, 3_000
# Small networks whose values travel fast enough to be there after so few updates; closeness to the data is the default.
SMALL = (
    "net_arch=[64,64]", "batch_size=128", "learning_rate=1e-3", "gamma=0.97", "tau=0.03", "target_update_interval=30",
    f"total_steps={UPDATES}", f"eval_freq={UPDATES}", f"log_freq={UPDATES}",
)  # fmt: skip
GOAL = 0.1
ALWAYS = ("filtered-bc", "iql")


def main(folder: Path, minutes: float) -> None:
    """Train what is missing, until so many CPU minutes are used here and by the workers."""
    known = {(row["data"], row["algorithm"]) for row in recorded()}
    began = _used()
    for data in sorted((folder / "data").glob("*.npz")):
        environment, algorithms = TASKS[data.stem.partition("-")[0]]
        for algorithm in algorithms:
            if (data.stem, algorithm) in known:
                continue
            if _used() - began > 60.0 * minutes:
                return
            before = _used()
            row: dict[str, Any] = {"data": data.stem, "algorithm": algorithm, "advised": advised(data, environment)}
            row |= {"end": _end(data, algorithm), "cpu": round(_used() - before, 1)}
            with RECORD.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)


def _used() -> float:
    times = os.times()
    return float(times.user + times.system + times.children_user + times.children_system)


def _end(data: Path, algorithm: str) -> float:
    settings = [f"eval_episodes={EPISODES}"]
    settings += [] if algorithm_name(algorithm) in CLONING else SMALL
    with tempfile.TemporaryDirectory() as root:
        recipe = offline_recipe(str(data), algorithm, "", settings)
        if recipe.algorithm in CLONING:
            recipe = recipe.with_changes({"n_steps": recipe.total_steps, "eval_freq": recipe.total_steps})
        run = read(train(recipe, root))
    if run.status.state is not Status.FINISHED:
        raise SystemExit(f"{algorithm} on {data.stem} was stopped on the way and is not recorded")
    return round(float(run.series["return/eval"].values[-1]), 2)


def advised(data: Path, environment: str) -> str:
    """The algorithm of the last training that the advice names; it begins with filtered cloning as the baseline."""
    steps = advise("offline", environment=environment, dataset=data).next_steps
    named = [words[words.index("--algo") + 1] for words in map(str.split, steps) if "--algo" in words]
    return named[-1] if named else "none"


def recorded() -> list[dict[str, Any]]:
    """What is recorded."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    return [json.loads(line) for line in lines]


def report() -> Iterator[str]:
    """The part of the page about choosing an algorithm."""
    rows = recorded()
    yield "| data | advised | its score | best | its score | regret | always filtered-bc | always iql |"
    yield "|---|---|---|---|---|---|---|---|"
    regrets: dict[str, list[float]] = {name: [] for name in ("advised", *ALWAYS)}
    shared: list[float] = []
    for data in dict.fromkeys(row["data"] for row in rows):
        own = {row["algorithm"]: row for row in rows if row["data"] == data}
        if len(own) < len(TASKS[data.partition("-")[0]][1]):
            continue
        scores = {name: _score(data, row["end"]) for name, row in own.items()}
        choice, best = next(iter(own.values()))["advised"], max(scores, key=lambda name: scores[name])
        behind = {name: scores[best] - scores[name] if name in scores else None for name in (choice, *ALWAYS)}
        for name, kind in ((choice, "advised"), *((name, name) for name in ALWAYS)):
            if (regret := behind[name]) is not None:
                regrets[kind].append(regret)
        if behind["iql"] is not None and behind[choice] is not None:
            shared.append(behind[choice])
        told = [f"{behind[name]:.2f}" if behind[name] is not None else "-" for name in (choice, *ALWAYS)]
        yield (
            f"| {data} | {choice} | {scores.get(choice, float('nan')):.2f} | {best} | {scores[best]:.2f} | "
            f"{' | '.join(told)} |"
        )
    if regrets["advised"]:
        yield ""
        yield (
            f"Median regret over {len(regrets['advised'])} data sets: advised {_middle(regrets['advised'])} (goal: at "
            f"most {GOAL}), always filtered-bc {_middle(regrets['filtered-bc'])}."
        )
    if shared:
        yield (
            f"Over the {len(shared)} of them that IQL can learn from: advised {_middle(shared)}, always iql "
            f"{_middle(regrets['iql'])}."
        )


def _middle(values: list[float]) -> str:
    return f"{median(values):.2f} (mean {fmean(values):.2f})"


def _score(data: str, end: float) -> float:
    """0 is a random policy, 1 the best known return of the task."""
    task = task_of(TASKS[data.partition("-")[0]][0])
    assert task is not None
    assert task.random_mean is not None
    assert task.best_return is not None
    return (end - task.random_mean) / (task.best_return - task.random_mean)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=35.0)
    told = parser.parse_args()
    main(told.folder, told.minutes)
