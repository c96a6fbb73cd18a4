"""Environments that no table knows, registered with gymnasium as a user would, and faults to put into any of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from bench.faults.environments.wrappers import ChangedReward, EarlyEnd, HiddenFeatures

# Env steps of an episode.
TRACKER_LIMIT, DESK_LIMIT = 60, 60
QUEUES, LONGEST = 3, 10
ARRIVALS = (0.35, 0.25, 0.15)


class Tracker(gymnasium.Env):  # type: ignore[type-arg]
    """Keep a level with inertia at a set point that wanders. Observation: level, speed, set point, distance."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-10.0, 10.0, (4,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self._level = self._speed = self._wanted = 0.0
        self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._level, self._wanted = self.np_random.uniform(-1.5, 1.5, 2).tolist()
        self._speed, self._taken = 0.0, 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        push = min(max(float(np.asarray(action).reshape(-1)[0]), -1.0), 1.0)
        self._speed = 0.75 * self._speed + 0.12 * push
        self._level = min(max(0.98 * self._level + self._speed, -5.0), 5.0)
        self._wanted = min(max(self._wanted + 0.08 * float(self.np_random.normal()), -2.0), 2.0)
        self._taken += 1
        reward = -abs(self._level - self._wanted) - 0.02 * push * push
        return self._seen(), reward, False, self._taken >= TRACKER_LIMIT, {}

    def _seen(self) -> Any:
        return np.array([self._level, 4 * self._speed, self._wanted, self._wanted - self._level], dtype=np.float32)


class Desk(gymnasium.Env):  # type: ignore[type-arg]
    """One clerk, three queues; turning to another queue costs a step. Every one who waits costs a tenth a step."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (2 * QUEUES,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(QUEUES)
        self._waiting = np.zeros(QUEUES)
        self._at = self._taken = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._waiting = self.np_random.integers(0, 7, QUEUES).astype(float)
        self._at, self._taken = int(self.np_random.integers(QUEUES)), 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        if int(action) == self._at:
            self._waiting[self._at] = max(self._waiting[self._at] - 1.0, 0.0)
        self._at = int(action)
        self._waiting = np.minimum(self._waiting + (self.np_random.random(QUEUES) < ARRIVALS), LONGEST)
        self._taken += 1
        return self._seen(), -0.1 * float(self._waiting.sum()), False, self._taken >= DESK_LIMIT, {}

    def _seen(self) -> Any:
        return np.concatenate([self._waiting / LONGEST, np.eye(QUEUES)[self._at]]).astype(np.float32)


gymnasium.register("Tracker-v0", entry_point=f"{__name__}:Tracker")
gymnasium.register("Desk-v0", entry_point=f"{__name__}:Desk")


class _Dropped(gymnasium.ActionWrapper):  # type: ignore[type-arg]
    """The action is lost on the way: one by chance is taken."""

    def action(self, action: Any) -> Any:
        return self.action_space.sample()


FAULTS: dict[str, Callable[[Any], Any]] = {
    "": lambda environment: environment,
    "reward-flipped": lambda environment: ChangedReward(environment, factor=-1.0),
    "reward-constant": lambda environment: ChangedReward(environment, factor=0.0, offset=1.0),
    "ends-early": lambda environment: EarlyEnd(environment, steps=3),
    "observation-zero": lambda environment: HiddenFeatures(
        environment, features=list(range(environment.observation_space.shape[0]))
    ),
    "action-dropped": _Dropped,
}


def make(environment: str, fault: str) -> Any:
    """An environment by its id, with a fault that no log names."""
    return FAULTS[fault](gymnasium.make(environment))
