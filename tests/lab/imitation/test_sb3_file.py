"""Policies of SB3 checkpoints, rebuilt from their tensors alone, act as SB3's own do."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3

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


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    task = gymnasium.make("CartPole-v1")
    spaces = spaces_of(task.observation_space, task.action_space)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("data", "{}")
    with pytest.raises(UsageError, match="is no checkpoint of Stable-Baselines3"):
        policy_of_file(tmp_path / "empty.zip", spaces)
