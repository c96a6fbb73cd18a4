"""Gymnasium: `env = ClinicWrapper(gym.make(...), monitor)` for loops that log no returns themselves.

Returns, lengths, ends and reward components are taken where they arise. It looks on only: spaces, observations,
rewards and seeds pass through as they are.
"""

from __future__ import annotations

from typing import Any

import gymnasium

from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.live.monitor import Monitor
from rlclinic.live.names import canonical, tracked
from rlclinic.live.publish import Publisher

# Env steps between two rows.
EVERY = 1_000


class ClinicWrapper(gymnasium.Wrapper):
    """Tells a monitor of the episodes of one environment. `count` is how many such environments there are."""

    def __init__(self, env: Any, monitor: Monitor, *, count: int = 1, every: int = EVERY) -> None:
        super().__init__(env)
        self.total, self.length, self.steps = 0.0, 0, 0
        self._monitor = monitor
        self._publisher = Publisher(monitor.guard)
        self._count = count
        self._every = every
        self._episodes = EpisodeLog()
        self._episodes.follow(self)

    def reset(self, **arguments: Any) -> Any:
        """As the environment does."""
        result = self.env.reset(**arguments)
        self._monitor.guard.call("the wrapper", self._leave)
        return result

    def step(self, action: Any) -> Any:
        """As the environment does."""
        taken = self.env.step(action)
        self._monitor.guard.call("the wrapper", self._look, *taken[1:])
        return taken

    def _leave(self) -> None:
        self._episodes.leave(self.total, self.length)
        self.total, self.length = 0.0, 0

    def _look(self, reward: Any, terminated: Any, truncated: Any, info: Any) -> None:
        self.total += float(reward)
        self.length += 1
        self.steps += 1
        if info:
            self._episodes.add(info)
        if terminated or truncated:
            self._episodes.end(self.total, self.length, truncated=bool(truncated and not terminated))
            self.total, self.length = 0.0, 0
        if self.steps % self._every == 0:
            row = {canonical(name): value for name, value in self._episodes.take().items()}
            self._publisher.write(tracked(row), self.steps * self._count)
            self._monitor.log(row, self.steps * self._count)
