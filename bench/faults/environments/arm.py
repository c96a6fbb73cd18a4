"""A two-joint arm in the plane: bring the tip to a target. Continuous control without inertia."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np

LIMIT = 40
"""Env steps of an episode."""
TURN = 0.25
"""Radians that a joint turns in a step at most."""
EFFORT = 0.01
REACH = (0.3, 1.8)
"""Distance of targets from the shoulder; both links have length 1."""


class Arm(gymnasium.Env):  # type: ignore[type-arg]
    """Observation: sine and cosine of both joints, and the way from the tip to the target."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-4.0, 4.0, (6,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._joints = self._target = (0.0, 0.0)
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        first, second, angle = self.np_random.uniform(-math.pi, math.pi, 3).tolist()
        radius = float(self.np_random.uniform(*REACH))
        self._joints = (first, second)
        self._target = (radius * math.cos(angle), radius * math.sin(angle))
        self._taken = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        turn = [min(max(float(part), -1.0), 1.0) for part in action]
        self._joints = (self._joints[0] + TURN * turn[0], self._joints[1] + TURN * turn[1])
        self._taken += 1
        reward = -math.hypot(*self._away()) - EFFORT * (turn[0] ** 2 + turn[1] ** 2)
        return self._seen(), reward, False, self._taken >= LIMIT, {}

    def _away(self) -> tuple[float, float]:
        first, both = self._joints[0], sum(self._joints)
        x, y = math.cos(first) + math.cos(both), math.sin(first) + math.sin(both)
        return self._target[0] - x, self._target[1] - y

    def _seen(self) -> Any:
        first, second = self._joints
        return np.array(
            [math.sin(first), math.cos(first), math.sin(second), math.cos(second), *self._away()], np.float32
        )
