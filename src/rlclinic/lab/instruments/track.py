"""The record of one copy of an environment: all episodes in short, and stretches of steps in full."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from rlclinic.lab.instruments.episodes import components_in
from rlclinic.model.lazy_dataclass import dataclass

STRETCH = 40
"""Steps that are kept one after the other, so that the past of a step is known."""
MOST_ROWS = 3000
FIRST_EPISODES = LAST_EPISODES = 120
"""Of each copy; all are counted."""
GAMMA = 0.99


@dataclass(slots=True)
class Sample:
    """Stretches of all copies together; when there are too many, every other goes and new ones come half as often."""

    stretches: list[list[tuple[Any, ...]]] = field(default_factory=list)
    gap: int = 3 * STRETCH
    """Steps between the beginnings of two stretches of a copy."""

    def add(self, stretch: list[tuple[Any, ...]]) -> None:
        """One more."""
        self.stretches.append(stretch)
        if len(self.stretches) * STRETCH > MOST_ROWS:
            # By turns of the clock, so that no copy loses all of its own.
            self.stretches = [one for one in self.stretches if (one[0][-1] // self.gap) % 2 == 0]
            self.gap *= 2


class Track:
    """One copy."""

    def __init__(self, number: int, sample: Sample, components: Mapping[str, str]) -> None:
        self.number = number
        self._components = components
        self.steps = 0
        self.not_finite = 0
        self.count = 0
        self.first_episodes: list[tuple[Any, ...]] = []
        self.last_episodes: deque[tuple[Any, ...]] = deque(maxlen=LAST_EPISODES)
        self._sample = sample
        self._next = 0
        self._kept = -1
        self._stretch: list[tuple[Any, ...]] | None = None
        self._first: Any = None
        self._seen: Any = None
        self._total = self._discounted = 0.0
        self._weight = 1.0
        self._length = 0

    def started(self, observation: Any) -> None:
        """An episode begins."""
        # Environments may fill the same array again.
        self._first = self._seen = copy.copy(observation)
        self._total = self._discounted = 0.0
        self._weight, self._length = 1.0, 0

    def stepped(self, action: Any, found: tuple[Any, Any, Any, Any, Any]) -> None:
        """A step was taken."""
        reward = found[1]
        at = self.steps
        self.steps = at + 1
        self._total += reward
        self._discounted += self._weight * reward
        self._weight *= GAMMA
        self._length += 1
        if at >= self._next:
            self._keep(at, action, found)
        if found[2] or found[3]:
            self._ended(found)

    def _keep(self, at: int, action: Any, found: tuple[Any, Any, Any, Any, Any]) -> None:
        observation, reward, terminated, truncated, info = found
        if self._stretch is None:
            self._stretch = []
        if at != self._kept + 1 and self._length > 1:
            # What was seen before the first step of a stretch is not known unless it begins an episode.
            self._seen = None
        self._kept = at
        after = copy.copy(observation)
        if self._seen is not None:
            parts = dict(components_in(info, self._components)) if info else None
            row = (self._seen, copy.copy(action), float(reward), after, bool(terminated), bool(truncated), parts)
            self._stretch.append((*row, self.number, self.count, self._length - 1, at))
        self._seen = after
        if len(self._stretch) >= STRETCH:
            self._sample.add(self._stretch)
            self._stretch = None
            gap = self._sample.gap
            self._next = (at // gap + 1) * gap

    def _ended(self, found: tuple[Any, Any, Any, Any, Any]) -> None:
        total = float(self._total)
        if total - total != 0.0:
            self.not_finite += 1
        row = (total, self._length, bool(found[2]), self._first, copy.copy(found[0]), self.number, self._discounted)
        self.count += 1
        (self.first_episodes if len(self.first_episodes) < FIRST_EPISODES else self.last_episodes).append(row)

    def rows(self) -> list[tuple[Any, ...]]:
        """The stretch that is being kept."""
        return self._stretch or []
