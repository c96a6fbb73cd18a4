"""A vertical descent: brake in time, or hit the ground. Episodes end at touchdown; most of the reward comes there."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

LIMIT = 80
"""Env steps of an episode."""
GRAVITY, THRUST = 0.05, (0.0, 0.05, 0.12)
"""Speed gained and taken away in a step."""
STEP = 0.025
"""Cost of a step: hovering is worse than any landing."""
IMPACT = 2.0
"""Cost of the speed at touchdown, up to a speed of 1."""


class Lander(gymnasium.Env):  # type: ignore[type-arg]
    """Observation: height, share of the time used, speed downwards. Action: no, half or full thrust."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-5.0, 5.0, (3,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(THRUST))
        self._height = self._speed = 0.0
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._height = float(self.np_random.uniform(3.0, 6.0))
        self._speed = float(self.np_random.uniform(0.0, 0.4))
        self._taken = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self._speed += GRAVITY - THRUST[int(action)]
        self._height -= self._speed
        self._taken += 1
        landed = self._height <= 0.0
        reward = -STEP + (1.0 - IMPACT * min(self._speed, 1.0) if landed else 0.0)
        return self._seen(), reward, landed, not landed and self._taken >= LIMIT, {}

    def _seen(self) -> Any:
        return np.array([self._height / 3.0, self._taken / LIMIT, self._speed * 3.0], dtype=np.float32)
