"""Order goods that arrive a step later, for a demand that drifts: neither too much on the shelf nor too little."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

LIMIT = 50
"""Env steps of an episode."""
ORDERS = 6
"""Goods that one order holds at most, plus one."""
SHELF = 12.0
KEEP, MISS = 0.1, 1.0
"""Cost of a good on the shelf for a step, and of a wish that is not met."""
DRIFT = 0.25
"""Standard deviation of the change of the mean demand in a step."""


class Stock(gymnasium.Env):  # type: ignore[type-arg]
    """Observation: goods on the shelf, goods ordered, mean demand. Action: how many to order."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0.0, 2.0, (3,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(ORDERS)
        self._shelf = self._ordered = self._mean = 0.0
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._shelf, self._ordered = float(self.np_random.integers(0, 6)), 0.0
        self._mean = float(self.np_random.uniform(0.5, 4.0))
        self._taken = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self._shelf = min(self._shelf + self._ordered, SHELF)
        self._ordered = float(int(action))
        wanted = float(self.np_random.poisson(self._mean))
        missed = max(wanted - self._shelf, 0.0)
        self._shelf = max(self._shelf - wanted, 0.0)
        self._mean = min(max(self._mean + DRIFT * float(self.np_random.normal()), 0.5), 4.0)
        self._taken += 1
        return self._seen(), -KEEP * self._shelf - MISS * missed, False, self._taken >= LIMIT, {}

    def _seen(self) -> Any:
        return np.array([self._shelf / 6.0, self._ordered / 5.0, self._mean / 4.0], dtype=np.float32)
