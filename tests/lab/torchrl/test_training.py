"""Whole runs: every algorithm trains, logs what a diagnosis needs, learns, stops and goes on."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rlclinic
from rlclinic.lab.backend import backend_for
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.train import train
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Run

HERE = "tests.lab.torchrl.small_envs"
COMMON = {
    "return/train",
    "return/eval",
    "episode_length",
    "truncation_rate",
    "policy_loss",
    "entropy",
    "fps",
    "updates",
}
NORMS = {"grad_norm", "grad_norm/actor", "grad_norm/critic", "learning_rate"}
VALUES = {"value_loss", "explained_variance", "advantage/mean", "advantage/std", "advantage/abs_max", "approx_kl"}
SPREAD = {"action_std/mean", "action_std/min"}
LOGGED = {
    "PPO": COMMON | NORMS | VALUES | {"clip_fraction", "clip_range", "loss"},
    "MM-RKHS": COMMON | NORMS | VALUES | {"mmd", "loss"},
    "REINFORCE": COMMON | NORMS | VALUES | {"loss"},
    "SAC": COMMON | NORMS | {"value_loss", "q/mean", "q/max", "q/min", "q/spread", "td_error", "alpha", "alpha_loss"},
}
SMALL: dict[str, dict[str, Any]] = {
    "PPO": {"n_envs": 2, "n_steps": 64, "n_epochs": 2, "net_arch": [16]},
    "MM-RKHS": {
        "n_envs": 2,
        "n_steps": 64,
        "n_epochs": 2,
        "net_arch": [16],
        "eta_schedule": "linear",
        "target_kl": 0.05,
    },
    "REINFORCE": {"n_envs": 2, "n_steps": 64, "n_epochs": 2, "net_arch": [16]},
    "SAC": {"n_envs": 2, "learning_starts": 150, "train_freq": 5, "batch_size": 16, "net_arch": [16]},
}
BUDGET = 400


def recipe(algorithm: str, environment: str = "CartPole-v1", total_steps: int = BUDGET, **changes: Any) -> Recipe:
    own = {"eval_every": 200, "eval_episodes": 2, "log_every": 1, "checkpoint_every": 200}
    base = Recipe("torchrl", algorithm, environment, total_steps, SMALL[algorithm], **own)
    return base.with_changes(changes).trusted()


def weights(path: Path) -> dict[str, torch.Tensor]:
    saved = torch.load(path / "checkpoints" / "@last" / "model.pt", weights_only=True)
    return {f"{part}.{key}": value for part, state in saved.items() for key, value in state.items() if value.ndim}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(one[key], other[key]) for key in one if torch.is_tensor(one[key])
    )


def series(run: Run, name: str) -> np.ndarray:
    return np.asarray(run[name].values)


@pytest.mark.parametrize("algorithm", SMALL)
@pytest.mark.parametrize("environment", ["CartPole-v1", "Pendulum-v1"])
def test_every_algorithm_logs_what_a_diagnosis_needs(algorithm: str, environment: str, tmp_path: Path) -> None:
    run = rlclinic.read(train(recipe(algorithm, environment), tmp_path))
    assert run.algorithm == algorithm
    assert run.environment == environment
    wanted = LOGGED[algorithm] | (SPREAD if environment == "Pendulum-v1" else set())
    assert wanted - set(run.series) == set()
    for name in wanted:
        assert np.isfinite(series(run, name)).any(), name
    parts = np.hypot(series(run, "grad_norm/actor"), series(run, "grad_norm/critic"))
    assert series(run, "grad_norm") == pytest.approx(parts, nan_ok=True)
    assert run.status.state == "finished"


@pytest.mark.parametrize("algorithm", SMALL)
def test_a_resumed_run_goes_on_with_the_same_weights_and_finishes_its_budget(algorithm: str, tmp_path: Path) -> None:
    path = train(recipe(algorithm), tmp_path)
    before = weights(path)
    train(resume=path)
    assert same(before, weights(path))
    config = path / "config.json"
    config.write_text(config.read_text().replace(f'"total_steps": {BUDGET}', f'"total_steps": {2 * BUDGET}'))
    train(resume=path)
    assert not same(before, weights(path))
    run = rlclinic.read(path)
    steps = np.asarray(run["policy_loss"].steps)
    assert steps[-1] >= 2 * BUDGET
    assert (np.diff(steps) > 0).all()
    assert series(run, "updates")[-1] > series(run, "updates")[0]


def test_the_counter_of_updates_counts_passes_over_the_rollout(tmp_path: Path) -> None:
    counted = rlclinic.read(train(recipe("PPO"), tmp_path))["updates"]

    assert set(np.diff(counted.values)) == {2.0}


def test_the_same_recipe_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    first, second = (weights(train(recipe("MM-RKHS"), tmp_path)) for _ in range(2))
    assert same(first, second)
    assert not same(first, weights(train(recipe("MM-RKHS", seed=1), tmp_path)))


def test_checkpoints_hold_nothing_that_must_be_unpickled(tmp_path: Path) -> None:
    path = train(recipe("SAC", "Pendulum-v1", normalize_obs=True, normalize_reward=True), tmp_path)
    saved = path / "checkpoints" / "@last"
    assert {file.suffix for file in saved.iterdir()} == {".pt", ".npz", ".json"}
    for file in saved.glob("*.npz"):
        with np.load(file, allow_pickle=False) as arrays:
            assert all(arrays[name].dtype != object for name in arrays)
    for file in saved.glob("*.pt"):
        assert torch.load(file, weights_only=True)


def test_mm_rkhs_learns_cartpole_far_beyond_random(tmp_path: Path) -> None:
    own = {"n_envs": 8, "n_steps": 32, "n_epochs": 10, "net_arch": [64, 64], "learning_rate": 1e-3}
    path = train(recipe("MM-RKHS", total_steps=6000, eval_freq=6000, eval_episodes=10, **own), tmp_path)
    run = rlclinic.read(path)
    # Random actions get 22; the best of the last 100 training episodes says nothing of luck in one evaluation.
    assert series(run, "return/train")[-1] > 50
    assert series(run, "return/eval")[-1] > 100
    assert series(run, "approx_kl").max() < 0.2
    assert series(run, "mmd").min() >= 0


@pytest.mark.parametrize("algorithm", ["PPO", "MM-RKHS", "REINFORCE"])
def test_continuous_actions_find_a_target_from_a_discrete_observation(algorithm: str, tmp_path: Path) -> None:
    own = {"n_steps": 128, "learning_rate": 0.01, "log_std_init": -1.0}
    path = train(recipe(algorithm, f"{HERE}:Target", total_steps=3072, eval_freq=3072, **own), tmp_path)
    # The mean starts near 0: a return of -0.5. Perfect is 0.
    assert series(rlclinic.read(path), "return/eval")[-1] > -0.1


def test_sac_finds_the_target_with_actions_scaled_to_the_range(tmp_path: Path) -> None:
    own = {
        "learning_rate": 0.01,
        "gamma": 0.0,
        "ent_coef": 0.01,
        "batch_size": 64,
        "net_arch": [32, 32],
        "train_freq": 2,
    }
    path = train(recipe("SAC", f"{HERE}:Target", total_steps=900, eval_freq=900, **own), tmp_path)
    # The middle of the range is 1: a return of -0.5.
    assert series(rlclinic.read(path), "return/eval")[-1] > -0.1


@pytest.mark.parametrize("baseline", [True, False])
def test_reinforce_has_an_optional_baseline(*, baseline: bool, tmp_path: Path) -> None:
    run = rlclinic.read(train(recipe("REINFORCE", baseline=baseline), tmp_path))
    names = set(run.series)
    assert ("value_loss" in names) == baseline
    assert ("grad_norm/critic" in names) == baseline
    assert ("explained_variance" in names) == baseline
    assert ("value/mean" in names) == baseline


@pytest.mark.parametrize("algorithm", ["REINFORCE", "SAC"])
def test_a_signal_ends_the_run_soon_and_it_can_be_resumed(algorithm: str, tmp_path: Path) -> None:
    path = train(recipe(algorithm), tmp_path, progress=lambda _: signal.raise_signal(signal.SIGINT))
    run = rlclinic.read(path)
    assert run.status.state == "interrupted"
    assert run.steps < 50
    train(resume=path)
    run = rlclinic.read(path)
    assert run.status.state == "finished"
    assert run.steps >= BUDGET


def test_early_stop_at_the_threshold(tmp_path: Path) -> None:
    path = train(recipe("PPO", threshold=5.0, total_steps=2000), tmp_path)
    run = rlclinic.read(path)
    assert max(series(run, "updates")) < 2000 / 128 - 1
    assert "threshold" in (path / "status.json").read_text()


def test_weights_that_become_nan_end_the_run_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="NaN") as caught:
        train(recipe("PPO", learning_rate=1e30, max_grad_norm=None), tmp_path)
    assert "learning rate" in caught.value.hint
    run = rlclinic.read(caught.value.path)
    assert run.status.state == "crashed"
    assert "policy_loss" in run


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"gamma": 1.5}, "gamma = 1.5"),
        ({"net_arch": "big"}, "net_arch = 'big'"),
        ({"n_steps": 12.5}, "n_steps = 12.5"),
        ({"learning_rate": "fast"}, "learning_rate = 'fast'"),
        ({"mmd_bandwidth": "wide"}, "mmd_bandwidth = 'wide'"),
        ({"eta_schedule": "cubic"}, "eta_schedule = 'cubic'"),
        ({"activation": "sine"}, "activation = 'sine'"),
        ({"total_steps": 100}, "below one rollout"),
        ({"device": "cuda"}, "device"),
        ({"env_id": f"{HERE}:Pixels"}, "images"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        backend_for("torchrl").check(recipe("MM-RKHS").with_changes(changes).trusted())
    assert caught.value.hint


def test_every_default_is_a_canonical_hyperparameter() -> None:
    from rlclinic.lab.backend import ALGORITHMS
    from rlclinic.reference.hyperparameters import hyperparameters

    for algorithm in ALGORITHMS["torchrl"]:
        assert set(backend_for("torchrl").hyperparameters(algorithm)) <= set(hyperparameters())
