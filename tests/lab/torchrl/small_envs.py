"""Environments with a known course."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class Counter(gymnasium.Env[Any, Any]):
    """Observes the time; the reward is the time; ends or is cut after `length` steps."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2, start=3)

    def __init__(self, length: int = 3, *, truncate: bool = False) -> None:
        self._length = length
        self._truncate = truncate
        self._time = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._time = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self._time += 1
        ended = self._time >= self._length
        observation = np.full(1, self._time, np.float32)
        return observation, float(self._time), ended and not self._truncate, ended and self._truncate, {}


class Target(gymnasium.Env[Any, Any]):
    """One step: the reward is the negative squared distance of the action from 0.5 within [-2, 4]."""

    observation_space = gymnasium.spaces.Discrete(3, start=1)
    action_space = gymnasium.spaces.Box(np.float32(-2.0), np.float32(4.0), (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return int(self.np_random.integers(1, 4)), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        return 1, -float(np.square(action - 0.5).sum()), True, False, {"reward_distance": 1.0}


class Pixels(gymnasium.Env[Any, Any]):
    """Looks like images."""

    observation_space = gymnasium.spaces.Box(0, 255, (8, 8, 3), np.uint8)
    action_space = gymnasium.spaces.Discrete(2)
