"""Environments with faults, and recipes small enough for a test."""

from __future__ import annotations

import math
import os
import signal
import warnings
from typing import Any

import gymnasium
import numpy as np

from rlclinic.lab.recipe import Recipe

# Hyperparameters that make a real training short, by algorithm.
ON_POLICY = {"n_envs": 2, "n_steps": 32, "batch_size": 32, "net_arch": [8]}
OFF_POLICY = {"learning_starts": 40, "buffer_size": 1000, "batch_size": 16, "train_freq": 4, "net_arch": [8]}
SMALL: dict[str, dict[str, object]] = {
    "PPO": {**ON_POLICY, "n_epochs": 2},
    "A2C": {"n_envs": 2, "n_steps": 8, "net_arch": [8]},
    "TRPO": ON_POLICY,
    "DQN": OFF_POLICY,
    "QRDQN": {**OFF_POLICY, "n_quantiles": 5},
    "SAC": OFF_POLICY,
    "TD3": {**OFF_POLICY, "action_noise": 0.1},
    "TQC": {**OFF_POLICY, "n_quantiles": 5},
}
ENVIRONMENT = dict.fromkeys(("PPO", "A2C", "TRPO", "DQN", "QRDQN"), "CartPole-v1")
ENVIRONMENT |= dict.fromkeys(("SAC", "TD3", "TQC"), "Pendulum-v1")


def small(algorithm: str, environment: str = "", **fields: Any) -> Recipe:
    """A recipe that trains in a second."""
    values = {**SMALL[algorithm], **fields.pop("hyperparameters", {})}
    settings = {"total_steps": 448, "eval_every": 224, "eval_episodes": 2, "checkpoint_every": 192, **fields}
    name = environment or ENVIRONMENT[algorithm]
    return Recipe("sb3", algorithm, name, hyperparameters=values, **settings).trusted()


class Faulty(gymnasium.Env):  # type: ignore[type-arg]
    """Walks on; at a given step it raises or returns a number that is none."""

    observation_space = gymnasium.spaces.Box(-math.inf, math.inf, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, at: int = 150, fault: str = "raise", length: int = 20) -> None:
        self._at, self._fault, self._length = at, fault, length
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._in_episode = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self._steps += 1
        self._in_episode += 1
        observation, reward = np.full(2, self._in_episode / self._length, np.float32), 1.0
        if self._steps >= self._at:
            if self._fault == "raise":
                raise ValueError("the wheel came off")
            if self._fault == "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
            if self._fault == "warn" and self._steps == self._at:
                warnings.warn("the wheel is loose", stacklevel=2)
            if self._fault == "nan reward":
                reward = math.nan
            if self._fault == "infinite observation":
                observation[0] = math.inf
        parts = {"reward_alive": 0.75, "reward_speed": 0.25, "is_fast": True}
        return observation, reward, False, self._in_episode >= self._length, parts


class NoEnvironment:
    """Something that can be imported and is no environment."""


class Doubled(gymnasium.Wrapper):  # type: ignore[type-arg]
    """Multiplies rewards."""

    def __init__(self, environment: Any, factor: float = 2.0) -> None:
        super().__init__(environment)
        self._factor = factor

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return (observation, float(reward) * self._factor, *rest)
