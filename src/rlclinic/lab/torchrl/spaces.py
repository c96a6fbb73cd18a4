"""What the networks see of an environment: flat observations, and an action that is a number or a vector."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces.utils import flatdim, flatten
from numpy.typing import NDArray

from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Spaces:
    """The spaces of one environment, as sizes."""

    observation: Any
    """The Gymnasium space of observations."""
    observation_size: int
    n_actions: int | None
    """Number of discrete actions; None where actions are continuous."""
    first_action: int
    """What the environment calls its first discrete action."""
    action_shape: tuple[int, ...]
    low: Floats
    high: Floats

    @property
    def is_discrete(self) -> bool:
        """Whether actions are numbers out of a list."""
        return self.n_actions is not None

    @property
    def is_bounded(self) -> bool:
        """Whether every continuous action has a finite range."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @property
    def action_size(self) -> int:
        """Outputs of the policy's mean: action dimensions, or discrete actions."""
        return int(np.prod(self.action_shape, dtype=int)) if self.n_actions is None else self.n_actions

    def encode(self, observations: Any) -> Floats:
        """A batch of observations as rows of numbers; discrete ones become one-hot."""
        if isinstance(self.observation, gym.spaces.Box):
            rows = np.asarray(observations, dtype=np.float32)
            return rows.reshape(len(rows), -1)
        if isinstance(self.observation, gym.spaces.Discrete):
            at = np.asarray(observations, dtype=np.int64).reshape(-1) - int(self.observation.start)
            return np.eye(self.observation_size, dtype=np.float32)[at]
        if isinstance(observations, dict):
            keys = list(observations)
            size = len(observations[keys[0]])
            observations = [{key: observations[key][row] for key in keys} for row in range(size)]
        return np.stack([np.asarray(flatten(self.observation, one), dtype=np.float32) for one in observations])

    def to_environment(self, actions: NDArray[Any]) -> NDArray[Any]:
        """The policy's actions as the environment takes them: within its bounds, in its shape."""
        if self.n_actions is not None:
            return actions.astype(np.int64) + self.first_action
        shaped = actions.reshape(len(actions), *self.action_shape)
        bounded: NDArray[Any] = np.clip(shaped, self.low, self.high)
        return bounded

    def from_unit(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Continuous actions of [-1, 1] in the range of the environment; discrete ones as they are."""
        if self.n_actions is not None:
            return actions
        low, high = self.low.reshape(-1), self.high.reshape(-1)
        spread: NDArray[Any] = low + (actions + 1) / 2 * (high - low)
        return spread


def spaces_of(observation: Any, action: Any, *, images: bool = False) -> Spaces:
    """The spaces of an environment by their Gymnasium spaces; UsageError where the TorchRL trainers do not fit them.

    `images` are for whoever has a network for them.
    """
    if not images and isinstance(observation, gym.spaces.Box) and len(observation.shape) >= 3:
        raise UsageError(
            f"observations of shape {observation.shape} look like images; the TorchRL trainers have no CNN",
            hint="train with framework=sb3, or flatten the observation with a wrapper",
        )
    try:
        size = flatdim(observation)
    except NotImplementedError as error:
        raise UsageError(f"observation space {observation}", hint="wrap the environment to give a Box") from error
    empty = np.zeros(0, dtype=np.float32)
    if isinstance(action, gym.spaces.Discrete):
        return Spaces(observation, size, int(action.n), int(action.start), (), empty, empty)
    if isinstance(action, gym.spaces.Box):
        low, high = action.low.astype(np.float32), action.high.astype(np.float32)
        return Spaces(observation, size, None, 0, action.shape, low, high)
    raise UsageError(
        f"action space {action}", hint="the TorchRL trainers take Discrete and Box; try framework=sb3 for others"
    )
