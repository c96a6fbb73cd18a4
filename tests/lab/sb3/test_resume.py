"""Runs that end before their time: killed, interrupted, resumed."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from rlclinic import read
from rlclinic.lab.checkpoints import last_checkpoint
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.folder import open_folder
from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.overview import run_overviews
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.sb3.measures import MeanLogger
from rlclinic.lab.sb3.model import build_model
from rlclinic.lab.sb3.playing import policy_of
from rlclinic.lab.sb3.saving import load_model, save_model
from rlclinic.lab.train import train
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Status
from tests.lab.environments import small

# The child trains on one thread and shares nothing with the tests that a fork could break.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

# Seconds until something must have happened, on a machine that does other things too.
PATIENCE = 60.0


def start(recipe: Recipe, root: Path, *, until_steps: int) -> tuple[multiprocessing.process.BaseProcess, Path]:
    """Train in a process of its own and wait until a checkpoint at or after some steps lies there."""
    process = multiprocessing.get_context("fork").Process(target=train, args=(recipe, root))
    process.start()
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for path in root.glob("*-*"):
            saved = last_checkpoint(path)
            if saved is not None and saved.env_steps >= until_steps:
                return process, path
        time.sleep(0.01)
    raise AssertionError("the run did not get going")


def long(algorithm: str) -> Recipe:
    return small(algorithm, total_steps=10**6, eval_every=0, checkpoint_every=64)


def test_a_killed_run_is_readable_and_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    process, path = start(long("PPO"), tmp_path, until_steps=256)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    assert (path / "metrics.csv").read_bytes().endswith(b"\n")
    assert [entry.state for entry in run_overviews(tmp_path)] == ["interrupted"]
    saved = last_checkpoint(path)
    assert saved is not None
    before = read(path)
    assert before.steps >= saved.env_steps

    budget = saved.env_steps + 256
    _shorten(path, budget)
    train(resume=path)
    run = read(path)
    assert run.status.state is Status.FINISHED
    assert run.steps == budget
    steps = run["episodes"].steps
    assert (np.diff(steps) > 0).all()
    assert steps[0] == before["episodes"].steps[0]
    assert f"resumed from step {saved.env_steps:,}" in (path / "run.log").read_text()


def _shorten(path: Path, budget: int) -> None:
    config = path / "config.json"
    config.write_text(config.read_text().replace('"total_steps": 1000000', f'"total_steps": {budget}'))


@pytest.mark.parametrize(("number", "reason"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "stopped by SIGTERM")])
def test_a_signal_lets_the_run_save_and_end(tmp_path: Path, number: signal.Signals, reason: str) -> None:
    process, path = start(long("A2C"), tmp_path, until_steps=64)
    os.kill(process.pid or 0, number)
    process.join(PATIENCE)
    assert process.exitcode == 0
    run = read(path)
    assert (run.status.state, run.status.reason) == (Status.INTERRUPTED, reason)
    saved, state = last_checkpoint(path), open_folder(path).state()
    assert saved is not None
    assert state is not None
    assert saved.env_steps == state.env_steps >= run.steps


def test_a_run_that_is_being_trained_is_not_resumed_twice(tmp_path: Path) -> None:
    process, path = start(long("A2C"), tmp_path, until_steps=64)
    try:
        with pytest.raises(UsageError, match=f"process {process.pid} trains this run"):
            train(resume=path)
    finally:
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()


def test_a_damaged_checkpoint_is_passed_over(trained: Callable[[str], Path], tmp_path: Path) -> None:
    home = tmp_path / "run" / "checkpoints"
    for name, text in (("step=000000100", '{"total_env_steps": 100}'), ("step=000000200", "{")):
        (home / name).mkdir(parents=True)
        (home / name / "state.json").write_text(text)
    (home / "step=000000300").mkdir()
    saved = last_checkpoint(tmp_path / "run")
    assert saved is not None
    assert saved.env_steps == 100


def test_a_checkpoint_of_a_stranger_sets_nothing_but_weights_and_counters(tmp_path: Path) -> None:
    model = build_model(small("SAC"), EpisodeLog())
    save_model(model, tmp_path)
    rest = torch.load(tmp_path / "optimizer.pt", weights_only=True)
    rest["counters"] |= {"tensorboard_log": str(tmp_path / "elsewhere"), "_n_updates": "many", "num_timesteps": 7}
    rest["variables"]["env"] = torch.zeros(1)
    torch.save(rest, tmp_path / "optimizer.pt")
    load_model(model, tmp_path)
    assert model.tensorboard_log is None
    assert (model.num_timesteps, model._n_updates) == (7, 0)
    assert not isinstance(model.env, torch.Tensor)


@pytest.mark.parametrize(
    ("key", "value"), [("n_envs", 10**9), ("batch_size", "many"), ("frame_stack", 10**7), ("device", "meta")]
)
def test_a_config_of_a_stranger_is_checked_before_it_is_resumed(
    trained: Callable[[str], Path], tmp_path: Path, key: str, value: object
) -> None:
    path = Path(shutil.copytree(trained("A2C"), tmp_path / "run", symlinks=True))
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**config, key: value}))
    with pytest.raises(UsageError, match=key):
        train(resume=path)


def test_a_state_without_sound_seconds_is_resumed(trained: Callable[[str], Path], tmp_path: Path) -> None:
    path = Path(shutil.copytree(trained("A2C"), tmp_path / "run", symlinks=True))
    for file in path.glob("checkpoints/step=*/state.json"):
        file.write_text(json.dumps({**json.loads(file.read_text()), "seconds": "long"}))
    train(resume=path)
    assert read(path).status.state is Status.FINISHED


def test_a_finished_run_stays_as_it_is_when_resumed(tmp_path: Path) -> None:
    path = train(small("A2C"), tmp_path)
    before = (path / "metrics.csv").read_bytes()
    train(resume=path)
    assert (path / "metrics.csv").read_bytes() == before
    assert read(path).status.state is Status.FINISHED


@pytest.mark.parametrize("algorithm", ["PPO", "SAC", "DQN"])
def test_a_loaded_model_learns_on_exactly_as_the_saved_one(tmp_path: Path, algorithm: str) -> None:
    recipe = small(algorithm, hyperparameters={"normalize_obs": True, "normalize_reward": True})
    model = build_model(recipe, EpisodeLog())
    model.learn(128)
    save_model(model, tmp_path)
    other = build_model(recipe.with_changes({"seed": 77}), EpisodeLog())
    load_model(other, tmp_path)
    other.set_logger(MeanLogger())
    assert other.num_timesteps == model.num_timesteps
    assert other.get_vec_normalize_env().obs_rms.count == model.get_vec_normalize_env().obs_rms.count
    if algorithm != "PPO":
        assert other.replay_buffer.size() == model.replay_buffer.size()
        for one in (model, other):
            np.random.seed(0)
            torch.manual_seed(0)
            one.train(gradient_steps=3, batch_size=16)
    else:
        other.rollout_buffer = model.rollout_buffer
        for one in (model, other):
            np.random.seed(0)
            one._current_progress_remaining = 0.5
            one.train()
    for key, value in model.policy.state_dict().items():
        assert torch.equal(value, other.policy.state_dict()[key]), key


def test_the_replay_buffer_on_the_disk_is_bounded_and_keeps_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build_model(small("DQN"), EpisodeLog())
    model.learn(200)
    row = sum(array[0].nbytes for array in (model.replay_buffer.observations, model.replay_buffer.next_observations))
    monkeypatch.setattr("rlclinic.lab.sb3.saving.REPLAY_LIMIT", 100 * row)
    save_model(model, tmp_path)
    with np.load(tmp_path / "replay.npz") as arrays:
        kept = len(arrays["rewards"])
        assert 10 < kept < 200
        assert np.array_equal(arrays["actions"], model.replay_buffer.actions[200 - kept : 200])


@pytest.mark.parametrize("name", ["model.pt", "optimizer.pt", "random.npz"])
def test_a_damaged_checkpoint_is_refused_by_whoever_loads_it(
    name: str, trained: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(trained("PPO"), folder, symlinks=True)
    files = [path for path in folder.glob(f"checkpoints/step=*/{name}") if not path.is_symlink()]
    whole = files[0].read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"cos\nsystem\n(S'touch ran'\ntR."):
        for file in files:
            file.write_bytes(content)
        with pytest.raises(TrainingError, match="the checkpoint does not fit"):
            policy_of(folder)
    with pytest.raises(TrainingError, match="the checkpoint does not fit"):
        train(resume=folder)
