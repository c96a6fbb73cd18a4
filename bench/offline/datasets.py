"""Fifteen data sets of three tasks: `python -m bench.offline.datasets FOLDER` (about 5 CPU minutes).

A run of each task is trained to its goal and a second one half-way there; what they do, and what the first one saw
while it learned, becomes the data: FOLDER/data holds them, FOLDER/runs the runs. What exists is kept.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from rlclinic.lab.asking import recipe_from
from rlclinic.lab.offline.datasets import KINDS, make_datasets
from rlclinic.lab.train import train
from rlclinic.model.run import Status
from rlclinic.readers.open import read


@dataclass(frozen=True)
class Task:
    """What is trained, and the evaluation returns at which the two runs stop."""

    source: str
    expert: float
    medium: float
    settings: tuple[str, ...]


TASKS = {
    "cartpole": Task("CartPole-v1:dqn", 475.0, 150.0, ("total_steps=60000", "eval_freq=1000", "net_arch=[64,64]")),
    "pendulum": Task(
        "Pendulum-v1:sac",
        -180.0,
        -700.0,
        ("total_steps=10000", "eval_freq=250", "net_arch=[64,64]", "batch_size=128", "gamma=0.97"),
    ),
    "mountaincarcontinuous": Task(
        "MountainCarContinuous-v0:sac", 90.0, 20.0, ("total_steps=12000", "eval_freq=500", "batch_size=128")
    ),
}


def main(folder: Path, names: list[str]) -> None:
    """Train what is missing and write the data sets."""
    for name, task in TASKS.items():
        if names and name not in names:
            continue
        runs = {level: _trained(folder / "runs" / f"{name}-{level}", task, level) for level in ("expert", "medium")}
        for kind in KINDS:
            if (folder / "data" / f"{name}-{kind}.npz").exists() or (folder / "data" / name / f"{kind}-v0").exists():
                continue
            for made in make_datasets(runs["expert"], folder / "data", medium=runs["medium"], kinds=[kind]):
                told = f"{made.episodes:5d} episodes, {made.steps:6d} steps, mean return {made.mean_return:.4g}"
                print(f"{name} {kind:7s} {told}", flush=True)


def _trained(root: Path, task: Task, level: str) -> Path:
    done = [path.parent for path in root.glob("*/status.json") if not path.parent.is_symlink()]
    whole = [path for path in done if read(path).status.state is Status.FINISHED]
    if whole:
        return whole[0]
    threshold = getattr(task, level)
    goal = (f"threshold={threshold}", "eval_episodes=10", "seed=1")
    return train(recipe_from(task.source, (*task.settings, *goal)), root)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
