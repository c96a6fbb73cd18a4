"""Replay, target networks and the schedule of off-policy trainers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from .base import COMMON, Base, fill, mean_of
from .networks import tensor

REPLAY: Mapping[str, Any] = {
    **COMMON, "buffer_size": 4000, "learning_starts": 64, "train_every": 2, "n_step_return": 1, "tau": 0.1,
}  # fmt: skip


class Replay:
    """A ring of rows, one column per environment. Windows of n steps are put together when they are sampled."""

    def __init__(self, capacity: int, envs: int, inputs: int, action_size: int) -> None:
        self.rows, self.envs = max(capacity // envs, 1), envs
        self.observations = np.zeros((self.rows, envs, inputs), np.float32)
        self.following = np.zeros((self.rows, envs, inputs), np.float32)
        self.actions = np.zeros((self.rows, envs, action_size), np.float32)
        self.rewards, self.terminated, self.truncated = (np.zeros((self.rows, envs)) for _ in range(3))
        self.place, self.filled = 0, 0

    def add(self, transition: Any, actions: Any) -> None:
        """Overwrite the oldest row."""
        place = self.place
        self.observations[place], self.following[place] = transition.observations, transition.following
        self.actions[place], self.rewards[place] = actions, transition.rewards
        self.terminated[place], self.truncated[place] = transition.terminated, transition.truncated
        self.place = (place + 1) % self.rows
        self.filled = min(self.filled + 1, self.rows)

    def sample(self, size: int, steps: int, gamma: float, rng: np.random.Generator) -> dict[str, Any]:
        """Windows of up to so many steps that stop at the end of an episode and at the newest row."""
        row, env = rng.integers(self.filled, size=size), rng.integers(self.envs, size=size)
        newest = (self.place - 1) % self.rows
        first, last = row, row
        rewards, going, discount = np.zeros(size), np.ones(size), np.ones(size)
        for step in range(steps):
            rewards += going * gamma**step * self.rewards[row, env]
            discount = np.where(going > 0, gamma ** (step + 1), discount)
            last = np.where(going > 0, row, last)
            ended = np.maximum(self.terminated[row, env], self.truncated[row, env])
            going = going * (1 - ended) * (row != newest)
            row = (row + 1) % self.rows
        return {
            "observations": self.observations[first, env],
            "actions": self.actions[first, env],
            "rewards": rewards,
            "following": self.following[last, env],
            "bootstrap": discount * (1 - self.terminated[last, env]),
        }


class OffPolicy(Base):
    """Acts, stores, and learns from what is stored."""

    family = "off-policy"
    defaults = REPLAY
    online: nn.Module
    target: nn.Module

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        shape = (self.settings["buffer_size"], len(self.envs.envs), self.inputs, self.action_size())
        self.replay = Replay(*shape)
        self.owed = 0.0

    @abstractmethod
    def action_size(self) -> int:
        """Numbers per stored action."""

    @abstractmethod
    def explore(self, observations: Any) -> Any:
        """Actions in the policy's units."""

    @abstractmethod
    def learn(self, batch: dict[str, torch.Tensor]) -> None:
        """One gradient step."""

    def train(self, env_steps: int) -> None:
        """Steps and gradient steps in turn."""
        goal = self.envs.steps + env_steps
        while self.envs.steps < goal:
            actions = self.explore(self.normalised(self.envs.frames))
            self.replay.add(self.step(actions), actions)
            if self.envs.steps < self.settings["learning_starts"]:
                continue
            self.owed += len(self.envs.envs) / self.settings["train_every"]
            while self.owed >= 1:
                self.owed -= 1
                self.learn(self.batch())
                self.update_target()

    def batch(self) -> dict[str, torch.Tensor]:
        """Stored raw, normalised with the statistics of now."""
        found = self.replay.sample(self.settings["batch_size"], self.settings["n_step_return"], self.gamma, self.rng)
        found["observations"] = self.normalised(found["observations"])
        found["following"] = self.normalised(found["following"])
        return {name: tensor(array) for name, array in found.items()}

    def update_target(self) -> None:
        """Polyak averaging."""
        tau = self.settings["tau"]
        with torch.no_grad():
            for kept, fresh in zip(self.target.parameters(), self.online.parameters(), strict=True):
                kept.lerp_(fresh, tau)

    def targets(self) -> Mapping[str, float]:
        """One update from online 1 and target 0."""
        own = {parameter.data_ptr() for parameter in self.online.parameters()}
        shared = any(parameter.data_ptr() in own for parameter in self.target.parameters())
        fill(self.online, 1.0)
        fill(self.target, 0.0)
        self.update_target()
        return {"tau": self.settings["tau"], "slope": mean_of(self.target), "shared": float(shared)}
