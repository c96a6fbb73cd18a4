"""Real training with Stable-Baselines3, read back by rlclinic's own reader."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.vec_env import DummyVecEnv

from rlclinic import read
from rlclinic.lab.backend import ALGORITHMS, backend_for
from rlclinic.lab.environments import make_environment
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.evaluation import evaluate
from rlclinic.lab.folder import open_folder
from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.progress import Progress
from rlclinic.lab.sb3.arguments import constructor_arguments
from rlclinic.lab.sb3.model import build_model, policy_function
from rlclinic.lab.sb3.saving import load_model
from rlclinic.lab.train import train
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Status
from rlclinic.model.vocabulary import expected_metrics
from tests.lab.environments import small

# TD3 has no temperature; TRPO's actor moves without a backward pass, so its gradient has no norm.
ABSENT = {"TD3": {"alpha"}, "TRPO": {"grad_norm"}}
ALSO = {
    "PPO": {"grad_norm/actor", "grad_norm/critic", "advantage/mean", "advantage/std", "advantage/abs_max"},
    "A2C": {"grad_norm/actor", "advantage/std"},
    "TRPO": {"grad_norm/critic", "entropy"},
    "DQN": {"grad_norm/critic", "q/max", "epsilon"},
    "QRDQN": {"grad_norm/critic", "q/max"},
    "SAC": {"grad_norm/actor", "q/spread", "action_std/mean", "action_std/min", "alpha_loss"},
    "TD3": {"grad_norm/actor", "q/spread"},
    "TQC": {"q/spread", "action_std/mean"},
}


@pytest.mark.parametrize("algorithm", ALGORITHMS["sb3"])
def test_a_run_logs_what_a_diagnosis_needs_and_is_read_as_what_it_is(
    trained: Callable[[str], Path], algorithm: str
) -> None:
    run = read(trained(algorithm))
    assert (run.framework, run.algorithm, run.status.state) == ("rlclinic", algorithm, Status.FINISHED)
    assert run.steps == 448
    assert run.budget == 448
    wanted = {entry.name for entry in expected_metrics(algorithm)} - ABSENT.get(algorithm, set())
    wanted |= ALSO[algorithm] | {"truncation_rate", "reward/step", "episodes", "updates", "return/eval"}
    assert wanted <= set(run.series)
    assert run.unknown_metrics == ()
    assert all(np.isfinite(series.values).all() for series in run.series.values())
    assert len(run["return/eval"]) == 2


def test_every_value_that_applies_stands_in_the_config(trained: Callable[[str], Path]) -> None:
    run = read(trained("PPO"))
    values = {"learning_rate": 3e-4, "gamma": 0.99, "n_steps": 32, "n_actions": 2, "normalize_advantage": True}
    assert {name: run.config.get(name) for name in values} == values
    assert not any(setting.is_default for setting in run.config.settings.values() if setting.key != "rollout_size")
    assert "clip_range_vf" not in run.config


@pytest.mark.parametrize("algorithm", ["PPO", "SAC"])
def test_checkpoints_hold_tensors_and_plain_arrays_only(trained: Callable[[str], Path], algorithm: str) -> None:
    path = trained(algorithm)
    last = (path / "checkpoints" / "@last").resolve()
    assert last.parent == (path / "checkpoints").resolve()
    for file in last.glob("*.pt"):
        assert torch.load(file, weights_only=True)
    for file in last.glob("*.npz"):
        with np.load(file, allow_pickle=False) as arrays:
            assert all(arrays[name].dtype != object for name in arrays)
    assert json.loads((last / "state.json").read_text())["total_env_steps"] == 448
    assert zipfile.is_zipfile(last / "model.pt")
    assert len(read(path).checkpoints) <= 3


def weights(model: Any) -> Any:
    return torch.cat([parameter.detach().flatten() for parameter in model.policy.parameters()])


@pytest.mark.parametrize(("algorithm", "plain"), [("PPO", PPO), ("SAC", SAC)])
def test_the_instruments_do_not_change_what_is_learned(
    trained: Callable[[str], Path], algorithm: str, plain: Any
) -> None:
    recipe = small(algorithm)
    watched = build_model(recipe, EpisodeLog())
    load_model(watched, (trained(algorithm) / "checkpoints" / "@last").resolve())
    environment = DummyVecEnv([lambda: make_environment(recipe) for _ in range(recipe.n_envs)])
    arguments = constructor_arguments(recipe, environment.action_space)
    model = plain("MlpPolicy", environment, seed=recipe.seed, device="cpu", **arguments).learn(recipe.total_steps)
    assert torch.equal(weights(watched), weights(model))


def test_the_evaluated_policy_is_the_current_one(trained: Callable[[str], Path]) -> None:
    path = trained("PPO")
    recipe = open_folder(path).recipe()
    model = build_model(recipe, EpisodeLog())
    fresh = evaluate(recipe, policy_function(model, deterministic=True))
    load_model(model, (path / "checkpoints" / "@last").resolve())
    now = evaluate(recipe, policy_function(model, deterministic=True))
    logged = read(path)["return/eval"].values
    assert logged[-1] == now.mean
    assert not np.array_equal(fresh.returns, now.returns)


def test_evaluation_leaves_the_normaliser_as_it_is() -> None:
    recipe = small("PPO", hyperparameters={"normalize_obs": True, "normalize_reward": True})
    model = build_model(recipe, EpisodeLog())
    model.learn(64)
    normaliser = model.get_vec_normalize_env()
    before = normaliser.obs_rms.mean.copy(), normaliser.obs_rms.count
    act = policy_function(model, deterministic=True)
    seen: list[Any] = []
    evaluate(recipe, lambda observations: (seen.append(observations), act(observations))[1])
    assert np.array_equal(normaliser.obs_rms.mean, before[0])
    assert normaliser.obs_rms.count == before[1]
    assert np.abs(before[0]).max() > 0
    raw = model.predict(normaliser.normalize_obs(seen[0]), deterministic=True)[0]
    assert np.array_equal(act(seen[0]), raw)


def test_training_stops_at_the_threshold(tmp_path: Path) -> None:
    path = train(small("PPO", threshold=5.0), tmp_path)
    run = read(path)
    assert run.status.state is Status.FINISHED
    assert "reached the threshold 5" in run.status.reason
    assert run.steps == 256
    assert len(run["return/eval"]) == 1


def test_progress_tells_steps_return_speed_and_time_left(tmp_path: Path) -> None:
    told: list[Progress] = []
    train(small("A2C"), tmp_path, progress=told.append)
    last = told[-1]
    assert (last.env_steps, last.total_steps, last.seconds_left) == (448, 448, 0.0)
    assert last.train_return is not None
    assert last.eval_return is not None
    assert last.steps_per_second > 0


def test_an_environment_class_with_wrappers_and_components_trains(tmp_path: Path) -> None:
    recipe = small(
        "A2C",
        "tests.lab.environments:Faulty",
        env_kwargs={"at": 10**6, "length": 10},
        eval_every=0,
    ).with_changes({"env_wrappers": [{"id": "tests.lab.environments:Doubled", "factor": 3.0}]})
    run = read(train(recipe.trusted(), tmp_path))
    assert run["return/train"].last == 30.0
    assert run["reward/alive"].last == 0.75
    assert run["truncation_rate"].last == 1.0


def test_what_a_library_warns_of_stands_in_the_log(tmp_path: Path) -> None:
    faulty = {"at": 20, "fault": "warn"}
    recipe = small("A2C", "tests.lab.environments:Faulty", env_kwargs=faulty, eval_every=0, total_steps=64)
    with pytest.warns(UserWarning, match="the wheel is loose"):
        path = train(recipe, tmp_path)
    assert "UserWarning: the wheel is loose" in (path / "run.log").read_text()


FAULTS = [
    ("raise", "the environment raised ValueError: the wheel came off"),
    ("nan reward", "the environment returned the reward nan"),
    ("infinite observation", "the environment returned infinity in its observation"),
]


@pytest.mark.parametrize(("fault", "words"), FAULTS)
def test_an_environment_that_fails_mid_run_is_written_down_and_nothing_is_lost(
    tmp_path: Path, fault: str, words: str
) -> None:
    faulty = {"at": 100, "fault": fault}
    recipe = small("A2C", "tests.lab.environments:Faulty", env_kwargs=faulty, eval_every=0, checkpoint_every=64)
    with pytest.raises(TrainingError, match=words) as caught:
        train(recipe, tmp_path)
    assert caught.value.exit_code == 2
    run = read(caught.value.path)
    assert run.status.state is Status.CRASHED
    assert words in run.status.reason
    assert run.steps == 192
    assert max(checkpoint.step or 0 for checkpoint in run.checkpoints) == 198
    assert any("Traceback" in excerpt.text for excerpt in run.logs)


def test_a_disk_that_fills_up_mid_run_is_written_down_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rlclinic.lab.metrics_file import MetricsFile

    real = MetricsFile.append

    def append(self: MetricsFile, row: dict[str, float]) -> None:
        if self.rows >= 5:
            raise OSError(28, "No space left on device")
        real(self, row)

    monkeypatch.setattr(MetricsFile, "append", append)
    with pytest.raises(TrainingError, match="No space left on device") as caught:
        train(small("A2C"), tmp_path)
    assert "--resume" in caught.value.hint
    run = read(caught.value.path)
    assert (run.status.state, "No space left" in run.status.reason) == (Status.CRASHED, True)
    assert len(run["episodes"]) == 5
    assert not (Path(caught.value.path) / ".reserve").exists()


@pytest.mark.parametrize(
    ("recipe", "words", "hint"),
    [
        (small("PPO", "CartPol-v1"), "no environment is called 'CartPol-v1'", "CartPole-v1"),
        (small("PPO", "no.such.module:Cls"), "cannot be imported", "module:Class"),
        (small("PPO", "tests.lab.environments:NoEnvironment"), "is no gymnasium.Env", "subclass"),
        (small("PPO", "os:system"), "is no gymnasium.Env", "subclass"),
        (small("PPO", env_kwargs={"speed": 3}), "could not be made", "arguments"),
        (small("SAC", "CartPole-v1"), "SAC does not fit the discrete actions", "PPO, A2C, DQN"),
        (small("DQN", "Pendulum-v1"), "DQN does not fit the continuous actions", "SAC"),
        (small("PPO", total_steps=63), "63 steps is below one rollout of 64", "total_steps"),
        (small("DQN", total_steps=40), "ends before learning starts at 40", "learning_starts"),
        (small("PPO", hyperparameters={"activation": "Relish"}), "activation = 'Relish'", "torch.nn"),
        (small("PPO", hyperparameters={"learning_rate_schedule": "cosine"}), "cosine", "linear"),
        (small("PPO").with_changes({"env_wrappers": ["os:system"]}).trusted(), "is no gymnasium.Wrapper", "subclass"),
        (small("PPO").with_changes({"framework": "keras"}), "framework 'keras'", "sb3"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(
    tmp_path: Path, recipe: Any, words: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        train(recipe, tmp_path / "runs")
    assert words in caught.value.message
    assert hint in caught.value.hint
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("algorithm", ALGORITHMS["sb3"])
def test_the_table_of_hyperparameters_fits_the_library(algorithm: str) -> None:
    """Every default of the reference table is one that the constructor takes."""
    from rlclinic.reference.framework import framework

    takes = backend_for("sb3").hyperparameters(algorithm)
    defaults = framework("sb3").defaults_for(algorithm, "")
    assert set(defaults) <= set(takes)
    assert takes["learning_rate"] == defaults["learning_rate"]
    assert {"n_envs", "gamma", "net_arch"} <= set(takes)


def test_a_linear_schedule_falls_to_its_final_value() -> None:
    values = {"learning_rate": 1e-2, "learning_rate_schedule": "linear", "learning_rate_final": 1e-3}
    arguments = constructor_arguments(small("PPO", hyperparameters=values), None)
    schedule = arguments["learning_rate"]
    assert (schedule(1.0), schedule(0.0)) == (1e-2, 1e-3)
    assert math.isclose(schedule(0.5), 5.5e-3)
