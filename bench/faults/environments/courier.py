"""A gridworld with two legs: fetch the parcel, then bring it to the door. Reward comes at the two ends only."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

SIDE = 5
LIMIT = 50
"""Env steps of an episode."""
MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))
PICKED, DELIVERED, STEP = 0.3, 1.0, -0.01


class Courier(gymnasium.Env):  # type: ignore[misc]
    """Observation: own place, the parcel's, the door's, and whether the parcel is carried."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (7,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(MOVES))
        self._at = self._parcel = self._door = (0, 0)
        self._carries = False
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        places = self.np_random.choice(SIDE * SIDE, 3, replace=False).tolist()
        self._at, self._parcel, self._door = (divmod(place, SIDE) for place in places)
        self._carries, self._taken = False, 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        x, y = MOVES[int(action)]
        self._at = (min(max(self._at[0] + x, 0), SIDE - 1), min(max(self._at[1] + y, 0), SIDE - 1))
        self._taken += 1
        reward, delivered = STEP, False
        if not self._carries and self._at == self._parcel:
            self._carries, reward = True, PICKED
        elif self._carries and self._at == self._door:
            reward, delivered = DELIVERED, True
        return self._seen(), reward, delivered, not delivered and self._taken >= LIMIT, {}

    def _seen(self) -> Any:
        where = (*self._at, *self._parcel, *self._door)
        scaled = [2.0 * part / (SIDE - 1) - 1.0 for part in where]
        return np.array([*scaled, 1.0 if self._carries else -1.0], dtype=np.float32)
