"""Tiny environments, sound and broken, for the tests of the examination."""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np


class Slide(gymnasium.Env):  # type: ignore[type-arg]
    """A point on a line that is pushed towards 0."""

    observation_space = gymnasium.spaces.Box(-10.0, 10.0, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.speed, self.time = float(self.np_random.uniform(-1.0, 1.0)), 0.0, 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.speed = 0.8 * self.speed + 0.2 * self._force(action)
        self.at = float(np.clip(self.at + 0.2 * self.speed, -3.0, 3.0))
        self.time += 1
        return self._seen(), self._reward(), False, self.time >= 25, {"reward_way": self._reward()}

    def _force(self, action: Any) -> float:
        return float(np.clip(action[0], -1.0, 1.0))

    def _reward(self) -> float:
        return -abs(self.at)

    def _seen(self) -> Any:
        return np.array([self.at, self.speed], np.float32)


class Drawn(Slide):
    """Renders."""

    def render(self) -> Any:
        return np.full((30, 40, 3), int(40 * abs(self.at)), np.uint8)


class Deaf(Slide):
    """Takes a push of its own."""

    def _force(self, action: Any) -> float:
        return float(self.np_random.uniform(-1.0, 1.0))


class Clipped(Slide):
    """Pushes at a third of its range as at the end of it."""

    def _force(self, action: Any) -> float:
        return float(np.clip(3.0 * action[0], -1.0, 1.0))


class TakenBack(Slide):
    """Tells two terms that cancel, by keys of its own."""

    def step(self, action: Any) -> Any:
        *found, _ = super().step(action)
        return *found, {"terms": {"bonus": abs(self.speed), "cost": -abs(self.speed), "way": self._reward()}}


class Noisy(Slide):
    """The reward is mostly chance."""

    def _reward(self) -> float:
        return -abs(self.at) + float(self.np_random.normal(0.0, 20.0))


class Blind(Slide):
    """The speed is not seen."""

    def _seen(self) -> Any:
        return np.array([self.at, 0.0], np.float32)


class Chaotic(Slide):
    """A solver keeps rounding of its whole life, and the dynamics double it with every step."""

    kept = 0.0

    def step(self, action: Any) -> Any:
        self.kept += 1e-12
        self.at = float((2.0 * (self.at + self.kept)) % 2.0)
        return super().step(action)


class Worn(Slide):
    """The push becomes weaker over the life of the environment."""

    pushes = 0

    def _force(self, action: Any) -> float:
        self.pushes += 1
        return super()._force(action) * 0.999**self.pushes


class Raises(Slide):
    """Fails after some steps."""

    def step(self, action: Any) -> Any:
        if self.time > 10:
            raise ArithmeticError("the solver did not converge")
        return super().step(action)


class Hangs(Slide):
    """Never answers."""

    def step(self, action: Any) -> Any:
        time.sleep(600.0)


def to_zero(observation: Any) -> Any:
    """A policy that does well."""
    return np.clip(np.array([-3.0 * observation[0] - 2.0 * observation[1]], np.float32), -1.0, 1.0)


def away(observation: Any) -> Any:
    """A policy that does badly."""
    return -to_zero(observation)


class Success(Slide):
    """Pays for every step; to reach 0 ends the episode, and `info` calls it a success."""

    def step(self, action: Any) -> Any:
        observation, _, _, over, _ = super().step(action)
        reached = abs(self.at) < 0.1
        return observation, 1.0, reached, over, {"is_success": reached} if reached or over else {}


class Forced(Slide):
    """A cost of force and nothing else."""

    def step(self, action: Any) -> Any:
        observation, _, *rest = super().step(action)
        return observation, -(float(action[0]) ** 2), *rest


def normalised() -> Any:
    """Wrapped as many scripts do it."""
    return gymnasium.wrappers.NormalizeReward(gymnasium.wrappers.NormalizeObservation(Slide()))


class Unmade(Slide):
    """Needs what is not installed."""

    def __init__(self) -> None:
        import no_such_package  # noqa: F401


class Twice(Slide):
    """Tells the place twice."""

    def _seen(self) -> Any:
        return np.array([self.at, self.at], np.float32)


class Endless(Slide):
    """Never ends."""

    def step(self, action: Any) -> Any:
        observation, reward, _, _, info = super().step(action)
        return observation, reward, False, False, info


class Padded(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """Adds a number that is always 1."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (5,), np.float32)

    def observation(self, observation: Any) -> Any:
        return np.append(observation, 1.0).astype(np.float32)


def raises(observation: Any) -> Any:
    """A policy with a mistake."""
    raise KeyError("angle")


def too_many(observation: Any) -> Any:
    """A policy for another environment."""
    return np.zeros(3, np.float32)
