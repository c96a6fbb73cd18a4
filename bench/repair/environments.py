"""Small environments that no table knows, and a wrapper that makes a known one strange."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

# Env steps after which an episode is cut.
RAIL_LIMIT, POINT_LIMIT, ROOM_LIMIT = 300, 60, 40
SIDE = 6
MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))


class Rail(CartPoleEnv):
    """A longer pole on a weaker cart; paid for staying upright and near the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.length = 0.7
        self.force_mag = 8.0
        self.polemass_length = self.masspole * self.length
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._taken = 0
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        observation, _, terminated, _, info = super().step(action)
        self._taken += 1
        reward = 1.0 - 0.3 * min(abs(float(observation[0])), 2.0)
        return observation, reward, terminated, self._taken >= RAIL_LIMIT, info


class Point(gymnasium.Env):  # type: ignore[type-arg]
    """A point with inertia that is pushed towards a target."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-5.0, 5.0, (6,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._at = self._speed = self._target = (0.0, 0.0)
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        drawn = self.np_random.uniform(-1.0, 1.0, 4).tolist()
        self._at, self._speed, self._target = (drawn[0], drawn[1]), (0.0, 0.0), (drawn[2], drawn[3])
        self._taken = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        push = [min(max(float(part), -1.0), 1.0) for part in action]
        self._speed = (0.85 * self._speed[0] + 0.05 * push[0], 0.85 * self._speed[1] + 0.05 * push[1])
        self._at = tuple(min(max(x + v, -2.0), 2.0) for x, v in zip(self._at, self._speed, strict=True))  # type: ignore[assignment]
        self._taken += 1
        distance = math.hypot(self._at[0] - self._target[0], self._at[1] - self._target[1])
        reward = -distance - 0.02 * (push[0] ** 2 + push[1] ** 2)
        return self._seen(), reward, False, self._taken >= POINT_LIMIT, {}

    def _seen(self) -> Any:
        away = (self._target[0] - self._at[0], self._target[1] - self._at[1])
        return np.array([*self._at, self._speed[0] * 5, self._speed[1] * 5, *away], dtype=np.float32)


class Room(gymnasium.Env):  # type: ignore[type-arg]
    """A square room with a wall and a gap; the goal is behind the wall. One step costs a little, the goal pays 1."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(MOVES))
        self._at, self._goal = (0, 0), (0, 0)
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        drawn = self.np_random.integers(0, SIDE, 2).tolist()
        self._at = (0, drawn[0])
        self._goal = (SIDE - 1, drawn[1])
        self._taken = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        x, y = MOVES[int(action)]
        there = (min(max(self._at[0] + x, 0), SIDE - 1), min(max(self._at[1] + y, 0), SIDE - 1))
        # The wall stands in the third column; its gap is in the row below the top.
        if there[0] != 2 or there[1] == SIDE - 2:
            self._at = there
        self._taken += 1
        arrived = self._at == self._goal
        return self._seen(), 1.0 if arrived else -0.02, arrived, not arrived and self._taken >= ROOM_LIMIT, {}

    def _seen(self) -> Any:
        return np.array([2.0 * part / (SIDE - 1) - 1.0 for part in (*self._at, *self._goal)], dtype=np.float32)


class ScaledReward(gymnasium.RewardWrapper):  # type: ignore[type-arg]
    """The task in other units: part of the environment, so that returns are logged in them too."""

    def __init__(self, environment: Any, factor: float) -> None:
        super().__init__(environment)
        self._factor = factor

    def reward(self, reward: Any) -> float:
        return float(reward) * self._factor


class ScaledObservation(gymnasium.ObservationWrapper):  # type: ignore[type-arg]
    """Sensors in other units: part of the environment."""

    def __init__(self, environment: Any, factor: float) -> None:
        super().__init__(environment)
        shape = environment.observation_space.shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float32)
        self._factor = np.float32(factor)

    def observation(self, observation: Any) -> Any:
        return np.asarray(observation, dtype=np.float32) * self._factor
