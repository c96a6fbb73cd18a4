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


class SameChance(Slide):
    """Reset seeds NumPy, as many scripts do."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        np.random.seed(0)
        return super().reset(seed=seed)


class SameArray(Slide):
    """Fills one array again and again."""

    def __init__(self) -> None:
        self.buffer = np.zeros(2, np.float32)

    def _seen(self) -> Any:
        self.buffer[:] = self.at, self.speed
        return self.buffer


class CountsOn(Slide):
    """Reset does not set the counter back."""

    time = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        before = self.time
        found = super().reset(seed=seed)
        self.time = before
        return found


class Away(Slide):
    """Pays for the distance that it should cost."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest, _ = super().step(action)
        return observation, -reward, *rest, {"distance_to_goal": abs(self.at)}


class Summed(Slide):
    """Pays what was gained so far, at every step."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        self.sum = reward + (self.sum if self.time > 1 else 0.0)
        return observation, self.sum, *rest


class Hover(Slide):
    """The nearer the goal the more it pays; at the goal that ends."""

    def step(self, action: Any) -> Any:
        observation, _, _, *rest = super().step(action)
        there = abs(self.at) < 0.1
        return observation, 1.0 / (abs(self.at) + 0.1) + 5.0 * there, there, *rest


class Homing(Slide):
    """Pays for the way that was made, and at the goal."""

    def step(self, action: Any) -> Any:
        before = abs(self.at)
        observation, _, _, *rest, _ = super().step(action)
        there = abs(self.at) < 0.1
        return observation, before - abs(self.at) + 5.0 * there, there, *rest, {"distance": abs(self.at)}


class Falls(Slide):
    """Falls over, and is paid for it."""

    def step(self, action: Any) -> Any:
        observation, *_ = super().step(action)
        fell = self.time > 6 and self.np_random.random() < 0.2
        return observation, 10.0 if fell else 0.1, fell, self.time > 60, {"is_success": False}


class Rightwards(Slide):
    """Pays for a push to the right."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest, _ = super().step(action)
        return observation, 0.05 * reward + float(action[0]), *rest, {"distance": abs(self.at)}


class Lost(Slide):
    """Tells no place but NaN."""

    def _seen(self) -> Any:
        return np.array([np.nan, self.speed], np.float32)


class Rounds(gymnasium.Env):  # type: ignore[type-arg]
    """Steps towards the goal pay, and those away cost nothing, or as much."""

    observation_space = gymnasium.spaces.Discrete(11)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, *, back: float = 0.0) -> None:
        self.back = back

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.time = int(self.np_random.choice([0, 1, 2, 8, 9, 10])), 0
        return self.at, {}

    def step(self, action: Any) -> Any:
        before, self.time = abs(self.at - 5), self.time + 1
        self.at = min(max(self.at + (1 if action else -1), 0), 10)
        away, there = abs(self.at - 5), self.at == 5
        paid = 1.0 * (away < before) - self.back * (away > before) + 5.0 * there
        return self.at, paid, there, self.time >= 60, {}


class Paces(Slide):
    """Goes, and is carried, by steps of one size from anywhere."""

    action_space = gymnasium.spaces.Discrete(3)

    def step(self, action: Any) -> Any:
        self.at += 0.2 * (int(action) - 1 + int(self.np_random.integers(-1, 2)))
        self.time += 1
        return self._seen(), -abs(self.at), False, self.time >= 25, {}

    def _seen(self) -> Any:
        return np.array([self.at, 1.0], np.float32)


class Weak(Slide):
    """It drifts, and its push is given in other units."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.speed = float(self.np_random.uniform(-1.0, 1.0))
        return self._seen(), {}

    def _force(self, action: Any) -> float:
        return 1e-4 * super()._force(action)


class Waits(Slide):
    """Pays for waiting."""

    def step(self, action: Any) -> Any:
        observation, _, *rest, _ = super().step(action)
        return observation, abs(self.at), *rest, {"waiting": abs(self.at)}


class Stale(Slide):
    """Tells the start at every step, and is paid by what is."""

    def _seen(self) -> Any:
        if self.time == 0:
            self.start = self.at
        return np.array([self.start, 0.5 * self.start], np.float32)


class Hunt(gymnasium.Env):  # type: ignore[type-arg]
    """The treasure lies in one of five places, told or not."""

    action_space = gymnasium.spaces.Discrete(5)

    def __init__(self, *, told: bool = False) -> None:
        self.told = told
        self.observation_space = gymnasium.spaces.MultiDiscrete([5, 5])

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.time, self.treasure = 0, 0, int(self.np_random.integers(5))
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.at, self.time = int(action), self.time + 1
        found = self.at == self.treasure
        return self._seen(), float(found), found, self.time >= 30, {}

    def _seen(self) -> Any:
        return np.array([self.at, self.treasure if self.told else 0])


class Long(Slide):
    """An episode is longer than any that is kept."""

    def step(self, action: Any) -> Any:
        observation, reward, *_, info = super().step(action)
        return observation, reward, False, self.time >= 6000, info

    def _reward(self) -> float:
        return -abs(self.speed)


class Guess(gymnasium.Env):  # type: ignore[type-arg]
    """Twenty guesses, none of which changes the next question."""

    observation_space = gymnasium.spaces.Discrete(4)
    action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.asked, self.time = int(self.np_random.integers(4)), 0
        return self.asked, {}

    def step(self, action: Any) -> Any:
        paid, self.time = float(int(action) == self.asked), self.time + 1
        self.asked = int(self.np_random.integers(4))
        return self.asked, paid, self.time >= 20, False, {}


class Jitters(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """A loud sensor that draws from the chance of the environment, which itself is seldom used."""

    def observation(self, observation: Any) -> Any:
        return observation + self.np_random.normal(0.0, 0.5, 2).astype(np.float32)


class Gusts(Slide):
    """Wind blows where it is pushed hard."""

    def _force(self, action: Any) -> float:
        force = super()._force(action)
        return force + float(self.np_random.normal(0.0, 0.2)) if abs(force) > 0.6 else force


def jittery() -> Any:
    """Most states go on otherwise by chance."""
    return Jitters(Gusts())


class Nearest(gymnasium.Env):  # type: ignore[type-arg]
    """Tells where things lie, the nearest first; a step back shows again what was seen before."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (10,), np.float32)
    action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.time = self.np_random.uniform(0, 1, 2), 0
        self.things = list(self.np_random.uniform(0, 1, (int(self.np_random.integers(1, 5)), 2)))
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.at = np.clip(self.at + 0.08 * np.array([(0, 1), (0, -1), (1, 0), (-1, 0)][int(action)]), 0, 1)
        before, self.time = len(self.things), self.time + 1
        self.things = [one for one in self.things if np.linalg.norm(one - self.at) > 0.1]
        return self._seen(), float(before - len(self.things)) - 0.01, not self.things, self.time >= 60, {}

    def _seen(self) -> Any:
        told = np.full((5, 2), -1.0, np.float32)
        near = sorted(self.things, key=lambda one: float(np.abs(one - self.at).sum()))
        told[: len(self.things) + 1] = [self.at, *near]
        return told.ravel()


class Counter(gymnasium.Env):  # type: ignore[type-arg]
    """Customers are let in or sent away; the hour of the day goes round, from the hour at which an episode begins."""

    observation_space = gymnasium.spaces.Box(0.0, 30.0, (3,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.queue, self.kind, self.time = int(self.np_random.integers(5)), int(self.np_random.integers(3)), 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        entered = int(action) and self.queue < 30
        paid = (1.0, 3.0, 8.0)[self.kind] * entered
        served = int(self.np_random.poisson(1.2 if self.time % 24 < 8 else 0.7))
        self.queue, self.time = max(0, self.queue + entered - served), self.time + 1
        self.kind = int(self.np_random.choice(3, p=[0.6, 0.3, 0.1]))
        return self._seen(), paid - 0.25 * self.queue, False, self.time >= 120, {}

    def _seen(self) -> Any:
        return np.array([self.queue, self.kind, self.time % 24], np.float32)
