"""Policies of SB3 checkpoints, rebuilt from their tensors alone, act as SB3's own do."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch

from rlclinic.lab.imitation.sb3_file import policy_of_file
from rlclinic.lab.torchrl.spaces import spaces_of
from rlclinic.model.errors import UsageError


@pytest.mark.parametrize(
    ("algorithm", "environment"),
    [
        ("PPO", "CartPole-v1"),
        ("A2C", "Pendulum-v1"),
        ("DQN", "CartPole-v1"),
        ("SAC", "Pendulum-v1"),
        ("TD3", "Pendulum-v1"),
    ],
)
def test_the_rebuilt_policy_acts_as_the_saved_one(algorithm: str, environment: str, tmp_path: Path) -> None:
    task = gymnasium.make(environment)
    model: Any = getattr(stable_baselines3, algorithm)("MlpPolicy", task, seed=0)
    model.save(tmp_path / "model.zip")
    act = policy_of_file(tmp_path / "model.zip", spaces_of(task.observation_space, task.action_space))
    task.observation_space.seed(0)
    for _ in range(20):
        seen = np.clip(task.observation_space.sample(), -5.0, 5.0)
        np.testing.assert_allclose(act(seen), model.predict(seen, deterministic=True)[0], atol=1e-4)


class Frames(gymnasium.Env):
    """Images with the colours last, as SB3 turns them round."""

    observation_space = gymnasium.spaces.Box(0, 255, (84, 84, 3), np.uint8)
    action_space = gymnasium.spaces.Discrete(3)


@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_the_network_for_images_and_another_activation_are_rebuilt(algorithm: str, tmp_path: Path) -> None:
    kwargs = {"n_steps": 64} if algorithm == "PPO" else {"buffer_size": 10}
    task, layers = Frames(), {"net_arch": [8], "activation_fn": torch.nn.ELU}
    model: Any = getattr(stable_baselines3, algorithm)("CnnPolicy", task, seed=0, policy_kwargs=layers, **kwargs)
    with torch.no_grad():
        for weights in model.policy.parameters():
            weights.mul_(3.0)
    model.save(tmp_path / "model.zip")
    act = policy_of_file(tmp_path / "model.zip", spaces_of(task.observation_space, task.action_space, images=True))
    task.observation_space.seed(0)
    seen = [task.observation_space.sample() // scale for scale in (1, 2, 3, 5, 20, 100, 200, 255)]
    assert [act(one) for one in seen] == [int(model.predict(one, deterministic=True)[0]) for one in seen]


def test_a_policy_that_needs_the_statistics_of_a_pickle_is_refused(tmp_path: Path) -> None:
    task = gymnasium.make("CartPole-v1")
    stable_baselines3.PPO("MlpPolicy", task).save(tmp_path / "best_model.zip")
    (tmp_path / "CartPole-v1").mkdir()
    (tmp_path / "CartPole-v1" / "vecnormalize.pkl").write_bytes(b"")
    with pytest.raises(UsageError, match="which is not read"):
        policy_of_file(tmp_path / "best_model.zip", spaces_of(task.observation_space, task.action_space))


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    task = gymnasium.make("CartPole-v1")
    spaces = spaces_of(task.observation_space, task.action_space)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("data", "{}")
    with pytest.raises(UsageError, match="is no checkpoint of Stable-Baselines3"):
        policy_of_file(tmp_path / "empty.zip", spaces)


class Planted:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.write_text, (Path("ran"), "it")


def test_weights_that_were_made_to_break_it_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    task = gymnasium.make("CartPole-v1")
    spaces = spaces_of(task.observation_space, task.action_space)
    bias = {"action_net.bias": torch.zeros(2)}
    hostile: list[Any] = [
        {"a": Planted()}, [1], {1: torch.zeros(2)}, bias, {**bias, "action_net.weight": torch.tensor(1.0)},
        {**bias, "action_net.weight": torch.eye(2).to_sparse()},
        {**bias, "action_net.weight": torch.zeros(1).expand(100_000, 100_000)},
    ]  # fmt: skip
    for content in hostile:
        torch.save(content, tmp_path / "policy.pth")
        with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
            archive.write(tmp_path / "policy.pth", "policy.pth")
        with pytest.raises(UsageError, match=r"is no checkpoint|holds no policy that can be read"):
            policy_of_file(tmp_path / "model.zip", spaces)
    assert not (tmp_path / "ran").exists()


def test_compressed_weights_are_not_unpacked(tmp_path: Path) -> None:
    task = gymnasium.make("CartPole-v1")
    torch.save(
        {"action_net.weight": torch.zeros(600, 600), "action_net.bias": torch.zeros(600)}, tmp_path / "policy.pth"
    )
    with (
        zipfile.ZipFile(tmp_path / "policy.pth") as plain,
        zipfile.ZipFile(tmp_path / "small.pth", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.write(tmp_path / "small.pth", "policy.pth")
    with pytest.raises(UsageError, match="its tensors are compressed"):
        policy_of_file(tmp_path / "model.zip", spaces_of(task.observation_space, task.action_space))
