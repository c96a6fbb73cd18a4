"""Keep the level of a leaking tank at a set point that changes: continuous control with a delayed effect."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

LIMIT = 80
"""Env steps of an episode."""
LEAK, FLOW, LAG = 0.04, 0.12, 0.5
"""Share of the level lost in a step, most that the valve adds in a step, and how fast the valve follows."""
CHANGE = 0.03
"""Chance of a new set point in a step."""


class Tank(gymnasium.Env):  # type: ignore[misc]
    """Observation: level, valve, set point. Action: where to turn the valve, from -1 (shut) to 1 (open)."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-1.0, 2.0, (3,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self._level = self._valve = self._wanted = 0.0
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._level, self._wanted = self.np_random.uniform(0.1, 0.9, 2).tolist()
        self._valve, self._taken = 0.0, 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        wanted = (min(max(float(action[0]), -1.0), 1.0) + 1.0) / 2.0
        self._valve += LAG * (wanted - self._valve)
        self._level = min(max(self._level * (1.0 - LEAK) + FLOW * self._valve - 0.02, 0.0), 1.5)
        reward = -abs(self._level - self._wanted)
        if self.np_random.random() < CHANGE:
            self._wanted = float(self.np_random.uniform(0.1, 0.9))
        self._taken += 1
        return self._seen(), reward, False, self._taken >= LIMIT, {}

    def _seen(self) -> Any:
        return np.array([self._level, self._valve, self._wanted], dtype=np.float32)
