"""Environments side by side, each reset at once when its episode ends; what they report is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LOGGED_EPISODES = 50
CLIPPED_AT = 10.0
"""Normalised observations and rewards are clipped here."""
TINY = 1e-8


@dataclass(slots=True)
class Transition:
    """One step of all environments. `following` is the successor, also where an episode ended."""

    observations: Any
    following: Any
    rewards: Any
    terminated: Any
    truncated: Any


class Environments:
    """Steps a list of environments; stacks the newest frames; logs returns, lengths and steps."""

    def __init__(self, env_fn: Callable[[], Any], count: int, seed: int, stack: int) -> None:
        self.envs = [env_fn() for _ in range(count)]
        self.stack = stack
        self.size = self.envs[0].observation_space.shape[0]
        self.frames = np.zeros((count, stack * self.size), np.float32)
        for place, env in enumerate(self.envs):
            self.begin(place, env.reset(seed=seed + place)[0])
        self.episodes: deque[tuple[float, int]] = deque(maxlen=LOGGED_EPISODES)
        self.running = np.zeros((count, 2))
        self.steps = 0

    def begin(self, place: int, observation: Any) -> None:
        """A new episode: older frames are zero."""
        self.frames[place] = 0.0
        self.frames[place, -self.size :] = observation

    def push(self, place: int, observation: Any) -> None:
        """The newest frame enters, the oldest leaves."""
        self.frames[place, : -self.size] = self.frames[place, self.size :]
        self.frames[place, -self.size :] = observation

    def step(self, actions: list[Any]) -> Transition:
        """One step of each."""
        count = len(self.envs)
        before, following = self.frames.copy(), np.empty_like(self.frames)
        rewards, terminated, truncated = np.zeros(count), np.zeros(count), np.zeros(count)
        for place, (env, action) in enumerate(zip(self.envs, actions, strict=True)):
            observation, rewards[place], terminated[place], truncated[place], _ = env.step(action)
            self.push(place, observation)
            following[place] = self.frames[place]
            self.log(place, rewards[place], ended=bool(terminated[place] or truncated[place]))
            if terminated[place] or truncated[place]:
                self.begin(place, env.reset()[0])
        self.steps += count
        return Transition(before, following, rewards, terminated, truncated)

    def log(self, place: int, reward: float, *, ended: bool) -> None:
        """Add to the episode; at its end keep its return and length."""
        self.running[place] += (reward, 1)
        if ended:
            self.episodes.append((self.running[place, 0], int(self.running[place, 1])))
            self.running[place] = 0.0

    def logged(self) -> dict[str, float]:
        """Means over the newest episodes, and the steps of all environments."""
        found = {"env_steps": float(self.steps)}
        if self.episodes:
            returns, lengths = zip(*self.episodes, strict=True)
            found |= {"return": float(np.mean(returns)), "length": float(np.mean(lengths))}
        return found


class RunningStatistics:
    """Mean and variance of a stream of batches."""

    def __init__(self, size: int) -> None:
        self.mean, self.variance, self.count = np.zeros(size), np.ones(size), TINY

    def update(self, batch: Any) -> None:
        """Chan's parallel formula."""
        mean, variance, count = batch.mean(axis=0), batch.var(axis=0), len(batch)
        total = self.count + count
        distance = mean - self.mean
        spread = self.variance * self.count + variance * count + distance**2 * self.count * count / total
        self.mean = self.mean + distance * count / total
        self.variance, self.count = spread / total, total

    def normalised(self, values: Any) -> Any:
        """In deviations from the mean."""
        scaled = (values - self.mean) / np.sqrt(self.variance + TINY)
        return np.clip(scaled, -CLIPPED_AT, CLIPPED_AT).astype(np.float32)


class RewardScale:
    """Divides rewards by the deviation of the running discounted return."""

    def __init__(self, count: int, gamma: float) -> None:
        self.returns, self.gamma = np.zeros(count), gamma
        self.statistics = RunningStatistics(1)

    def scaled(self, rewards: Any, ended: Any) -> Any:
        """Rewards in the networks' units."""
        self.returns = self.gamma * self.returns + rewards
        self.statistics.update(self.returns.reshape(-1, 1))
        self.returns = self.returns * (1 - ended)
        return np.clip(rewards / self.unit(), -CLIPPED_AT, CLIPPED_AT)

    def unit(self) -> float:
        """What one unit of the networks is in raw reward."""
        return float(np.sqrt(self.statistics.variance[0] + TINY))
