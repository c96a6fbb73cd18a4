"""Runs for the tests of comparisons: made by hand where the right answer must be known."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from rlclinic.model.config import Config, Setting
from rlclinic.model.run import Run, RunStatus, Status
from rlclinic.model.series import FloatArray, Series
from tests.conftest import RUNS

CORPUS = Path(os.environ.get("RLCLINIC_CORPUS", Path(__file__).parents[3] / "shared" / "corpus"))
"""Other people's runs, where they are."""

BASE: dict[str, object] = {
    "learning_rate": 3e-4,
    "gamma": 0.99,
    "n_steps": 128,
    "n_envs": 4,
    "batch_size": 64,
    "n_epochs": 10,
    "ent_coef": 0.0,
    "clip_range": 0.2,
}


def curve(end: float, *, start: float = 20.0, points: int = 80, noise: float = 4.0, seed: int = 0) -> FloatArray:
    """A climb that ends at a level."""
    x = np.linspace(0.0, 1.0, points)
    rise = start + (end - start) / (1.0 + np.exp(-12.0 * (x - 0.4)))
    return np.asarray(rise + noise * np.random.default_rng(seed).standard_normal(points))


def run(
    name: str,
    returns: FloatArray,
    *,
    seed: int = 0,
    environment: str = "Made-v0",
    settings: Mapping[str, object] | None = None,
    more: Mapping[str, FloatArray] | None = None,
    state: Status = Status.FINISHED,
    steps: float = 100_000.0,
    threshold: float | None = None,
) -> Run:
    """A PPO run of SB3 with evenly logged metrics."""
    at = np.linspace(steps / returns.size, steps, returns.size)
    values = {"return/train": returns, **(more or {})}
    series = {key: Series(key, f"log/{key}", at, item, known=True) for key, item in values.items()}
    table = {**BASE, "seed": seed, "total_steps": steps, **(settings or {})}
    entries = {key: Setting(key, value, key) for key, value in table.items()}
    return Run(
        id=name,
        path=f"runs/{name}",
        framework="sb3",
        algorithm="PPO",
        environment=environment,
        status=RunStatus(state),
        steps=steps,
        budget=steps,
        threshold=threshold,
        config=Config(entries, entries),
        series=series,
    )


def shortened(whole: Run, share: float) -> Run:
    """The same run while it was still going."""
    end = share * whole.steps
    series = {
        name: replace(item, steps=item.steps[item.steps <= end], values=item.values[item.steps <= end], wall_times=None)
        for name, item in whole.series.items()
    }
    return replace(
        whole,
        series=series,
        steps=end,
        episodes=None,
        budget=whole.budget or whole.steps,
        status=RunStatus(Status.RUNNING, "the log was written to a minute ago"),
    )


# Recorded runs that make up the history in the tests: two that solve the task, faults of one setting each, a reward on
# another scale, and two runs of another task.
CHOSEN = (
    "solved_ppo_cartpole",
    "fast_lr_ppo_cartpole",
    "high_lr_ppo_cartpole",
    "low_lr_ppo_cartpole",
    "low_gamma_ppo_cartpole",
    "tight_clip_ppo_cartpole",
    "high_entropy_ppo_cartpole",
    "large_reward_ppo_cartpole",
    "healthy_dqn_cartpole",
    "healthy_ppo_acrobot",
    "high_lr_ppo_acrobot",
)


def chosen_runs(folder: Path) -> Path:
    """A folder with copies of the chosen runs."""
    for name in CHOSEN:
        shutil.copytree(RUNS / "faults" / name, folder / name)
    return folder
