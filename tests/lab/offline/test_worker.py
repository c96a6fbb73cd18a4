"""Offline algorithms by d3rlpy itself, where its environment is there (`rlclinic offline --setup`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlclinic.lab.checkpoints import last_checkpoint
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.offline.asking import offline_recipe
from rlclinic.lab.offline.link import Link
from rlclinic.lab.offline.ranking import rank_runs
from rlclinic.lab.offline.venv import worker_python
from rlclinic.lab.train import train
from rlclinic.model.errors import UsageError
from rlclinic.readers.open import read

SMALL = ("net_arch=[16]", "batch_size=16", "eval_episodes=2", "total_steps=100", "max_episode_steps=30", "threshold=0")


def _is_there() -> bool:
    try:
        worker_python()
    except UsageError:
        return False
    return True


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _is_there(), reason="d3rlpy is not there: rlclinic offline --setup"),
]


def data(folder: Path, environment: str) -> Path:
    """Steps of a random policy in five short episodes."""
    import gymnasium

    task = gymnasium.make(environment, max_episode_steps=30)
    task.action_space.seed(0)
    rows: list[tuple[Any, ...]] = []
    for episode in range(5):
        seen, _ = task.reset(seed=episode)
        over = False
        while not over:
            action = task.action_space.sample()
            following, reward, terminated, truncated, _ = task.step(action)
            over = terminated or truncated
            rows.append((seen, action, reward, following, terminated, truncated, episode))
            seen = following
    names = ("observations", "actions", "rewards", "next_observations", "terminated", "truncated", "episodes")
    path = folder / "data.npz"
    columns = {name: np.asarray(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    np.savez(path, env_id=np.asarray(environment), **columns)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize(
    ("environment", "algorithm"),
    [
        ("Pendulum-v1", "td3-bc"),
        ("Pendulum-v1", "iql"),
        ("Pendulum-v1", "cql"),
        ("CartPole-v1", "cql"),
        ("Pendulum-v1", "decision-transformer"),
        ("CartPole-v1", "decision-transformer"),
    ],
)
def test_every_algorithm_leaves_a_run_with_what_a_diagnosis_needs(
    environment: str, algorithm: str, tmp_path: Path
) -> None:
    path = train(offline_recipe(str(data(tmp_path, environment)), algorithm, "", SMALL), tmp_path / "runs")
    run = read(path)
    assert (run.framework, run.environment, run.step_axis) == ("rlclinic", environment, "updates")
    assert run.steps == 100
    assert "return/eval" in run.series
    assert "offline/data_best" in run.series
    if algorithm != "decision-transformer":
        assert {"q/mean", "td_error", "offline/actions_outside", "offline/states_outside"} <= set(run.series)


def test_a_run_goes_on_online_and_after_a_stop(tmp_path: Path) -> None:
    words = (*SMALL, "online_steps=60")
    recipe = offline_recipe(str(data(tmp_path, "Pendulum-v1")), "td3-bc", "", words)
    path = train(recipe, tmp_path / "runs", stop_after=80)
    saved = last_checkpoint(path)
    assert saved is not None
    assert saved.env_steps < 100
    with np.load(saved.path / "online.npz") as file:
        assert len(file["rewards"]) == saved.env_steps - 40
    train(resume=path)
    saved = last_checkpoint(path)
    assert saved is not None
    assert saved.env_steps == 100
    with np.load(saved.path / "online.npz") as file:
        assert len(file["rewards"]) == 60
        assert int(file["grad_step"]) == 100


def test_runs_are_ranked_by_fitted_q_evaluation(tmp_path: Path) -> None:
    file = str(data(tmp_path, "Pendulum-v1"))
    changes = ("seed=0", "gamma=0.5")
    runs = [train(offline_recipe(file, "td3-bc", "", (*SMALL, change)), tmp_path / "runs") for change in changes]
    found = rank_runs(runs[:1], steps=50)
    assert np.isfinite(found.policies[0].value)
    assert found.policies[0].played is not None
    with pytest.raises(UsageError, match="another discount"):
        rank_runs(runs, steps=1)


def test_a_worker_that_fails_says_why() -> None:
    with Link() as link, pytest.raises(TrainingError, match="FileNotFoundError"):
        link.ask("build", algorithm="CQL", settings={"batch_size": 4}, seed=0, discrete=False, data="nowhere.npz")
