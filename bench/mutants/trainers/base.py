"""What all reference trainers share: settings, environments, normalisation, and how they are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from rlclinic.probes.protocol import EnvFn, Observation, UnknownSettings, UnsupportedSpace

from .spaces import Gaussian, Heads, SquashedGaussian
from .stepping import Environments, RewardScale, RunningStatistics, Transition

COMMON: Mapping[str, Any] = {
    "learning_rate": 5e-3, "hidden_sizes": (32,), "max_grad_norm": 0.5, "batch_size": 64, "n_envs": 1,
    "normalize_observations": False, "normalize_rewards": False, "frame_stack": 1,
}  # fmt: skip
"""Settings that every trainer has, with their defaults."""


class Base(ABC):
    """A trainer without its learning rule."""

    family = ""
    defaults: Mapping[str, Any] = COMMON

    def __init__(self, env_fn: EnvFn, *, seed: int, gamma: float, **settings: Any) -> None:
        unknown = sorted(set(settings) - set(self.defaults))
        if unknown:
            raise UnknownSettings(unknown)
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.gamma = gamma
        self.settings = {**self.defaults, **settings}
        self.envs = Environments(env_fn, self.settings["n_envs"], seed, self.settings["frame_stack"])
        self.space = self.policy_space(self.envs.envs[0].action_space)
        self.inputs = self.envs.frames.shape[1]
        self.statistics = RunningStatistics(self.inputs) if self.settings["normalize_observations"] else None
        self.reward_scale = RewardScale(len(self.envs.envs), gamma) if self.settings["normalize_rewards"] else None
        self.frames: list[Any] = []
        self.build()

    @abstractmethod
    def policy_space(self, space: Any) -> Any:
        """The policy's distribution over this action space."""

    @abstractmethod
    def build(self) -> None:
        """Networks and optimisers."""

    def step(self, actions: Any) -> Transition:
        """Act in all environments; the statistics see what the policy acts on, rewards are in the networks' units."""
        if self.statistics is not None:
            self.statistics.update(self.envs.frames)
        transition = self.envs.step(self.space.to_env(actions))
        if self.reward_scale is not None:
            ended = np.maximum(transition.terminated, transition.truncated)
            transition.rewards = self.reward_scale.scaled(transition.rewards, ended)
        return transition

    def normalised(self, observations: Any) -> Any:
        """What the networks see."""
        return observations if self.statistics is None else self.statistics.normalised(observations)

    def reward_unit(self) -> float:
        """What one unit of the critic is in raw reward."""
        return 1.0 if self.reward_scale is None else self.reward_scale.unit()

    def act(self, obs: Observation) -> Any:
        """The greedy action as the environment receives it."""
        inputs = torch.as_tensor(self.evaluation_input(obs)).reshape(1, -1)
        with torch.no_grad():
            return self.space.to_env(self.greedy(inputs))[0]

    @abstractmethod
    def greedy(self, inputs: torch.Tensor) -> Any:
        """The greedy action in the policy's units."""

    def evaluation_input(self, obs: Observation) -> Any:
        """The networks' input in an evaluation episode."""
        return self.normalised(self.stacked(obs))

    def stacked(self, obs: Observation) -> Any:
        """The newest frames of the evaluation episode."""
        count = self.settings["frame_stack"]
        self.frames = [*self.frames, np.asarray(obs, np.float32)][-count:]
        return np.concatenate([*[np.zeros_like(self.frames[0])] * (count - len(self.frames)), *self.frames])

    def begin_episode(self) -> None:
        """An evaluation episode begins: forget its frames."""
        self.frames = []

    def network_input(self, obs: Observation) -> Any:
        """What the networks see for a raw observation."""
        return self.normalised(np.asarray(obs, np.float32))

    def one(self, obs: Observation) -> torch.Tensor:
        """A batch of one."""
        return torch.as_tensor(self.network_input(obs)).reshape(1, -1)

    def logged(self) -> Mapping[str, float]:
        """Returns, lengths and steps."""
        return self.envs.logged()


def discrete_or_gaussian(space: Any) -> Any:
    """For trainers that sample from their policy."""
    if hasattr(space, "nvec"):
        return Heads(tuple(int(size) for size in space.nvec), single=False)
    if hasattr(space, "n"):
        return Heads((int(space.n),), single=True)
    return Gaussian(space.low, space.high)


def only_discrete(space: Any) -> Any:
    """For Q-learners."""
    if not hasattr(space, "n") or hasattr(space, "nvec"):
        raise UnsupportedSpace("one discrete action only")
    return Heads((int(space.n),), single=True)


def only_box(space: Any) -> Any:
    """For soft actor-critics."""
    if not hasattr(space, "low"):
        raise UnsupportedSpace("continuous actions only")
    return SquashedGaussian(space.low, space.high)


def fill(module: nn.Module, value: float) -> None:
    """Set every parameter."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(value)


def mean_of(module: nn.Module) -> float:
    """The mean over parameters."""
    return float(np.mean([float(parameter.detach().mean()) for parameter in module.parameters()]))
