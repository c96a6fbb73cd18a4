"""Returns, lengths, ends and reward components of training episodes, taken at the environment itself.

The wrapper sits inside every change of the reward that only training sees (scale, clip, normalisation), so the
returns are those of the task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

# Episodes that a mean return is taken over: Stable-Baselines3's and gymnasium-solver's window.
WINDOW = 100
# Reward components that are followed; an environment with hundreds of keys is not worth a column each.
MAX_COMPONENTS = 24
# How components are called in `info`: `reward_ctrl` (MuJoCo), `rew_vel`, `r_goal`; or a dict under one of these keys.
PREFIXES = ("reward_", "rew_")
GROUPS = ("reward_components", "rewards", "reward_terms")


class Playing(Protocol):
    """An episode that goes on."""

    total: float
    length: int


class EpisodeLog:
    """What the training environments of a run report."""

    def __init__(self) -> None:
        self.count = 0
        self.recorder: Any = None
        """An `observe.Recorder`, where the steps themselves are kept too."""
        self._playing: list[Playing] = []
        self._left = self._told = (0.0, 0)
        self._returns: deque[float] = deque(maxlen=WINDOW)
        self._lengths: deque[float] = deque(maxlen=WINDOW)
        self._truncated: deque[float] = deque(maxlen=WINDOW)
        self._best = -np.inf
        self._since_row = 0
        self._components: dict[str, float] = {}

    @property
    def mean_return(self) -> float | None:
        """Mean return of the last 100 episodes."""
        return float(np.mean(self._returns)) if self._returns else None

    def follow(self, playing: Playing) -> None:
        """Count the episode that goes on in an environment too, without a call for each of its steps."""
        self._playing.append(playing)

    def add(self, info: Mapping[str, Any]) -> None:
        """The reward components of one env step."""
        for name, value in components_in(info):
            if name in self._components or len(self._components) < MAX_COMPONENTS:
                self._components[name] = self._components.get(name, 0.0) + value

    def end(self, total: float, length: int, *, truncated: bool) -> None:
        """One finished episode."""
        self.count += 1
        self._since_row += 1
        self.leave(total, length)
        self._returns.append(total)
        self._lengths.append(length)
        self._truncated.append(float(truncated))
        self._best = max(self._best, total)

    def leave(self, total: float, length: int) -> None:
        """Rewards and steps of an episode that does not go on, finished or not."""
        self._left = (self._left[0] + total, self._left[1] + length)

    def take(self) -> dict[str, float]:
        """The columns of the next row; sums since the last row start anew."""
        row: dict[str, float] = {"train/cnt/total_episodes": self.count, "train/roll/episodes": self._since_row}
        if self._returns:
            row["train/roll/ep_rew/mean"] = float(np.mean(self._returns))
            row["train/roll/ep_rew/std"] = float(np.std(self._returns))
            row["train/roll/ep_rew/best"] = float(self._best)
            row["train/roll/ep_rew/last"] = self._returns[-1]
            row["train/roll/ep_len/mean"] = float(np.mean(self._lengths))
            row["train/roll/ep_len/last"] = self._lengths[-1]
            row["train/roll/truncation_rate"] = float(np.mean(self._truncated))
        rewards, steps = self._all_so_far()
        new = steps - self._told[1]
        if new:
            row["train/roll/reward/mean"] = (rewards - self._told[0]) / new
            for name, total in self._components.items():
                row[f"train/roll/reward_part/{name}"] = total / new
        self._told, self._since_row = (rewards, steps), 0
        self._components = dict.fromkeys(self._components, 0.0)
        return row

    def _all_so_far(self) -> tuple[float, int]:
        """Rewards and steps of all episodes, those that go on included."""
        rewards, steps = self._left
        return rewards + sum(one.total for one in self._playing), steps + sum(one.length for one in self._playing)


def components_in(info: Mapping[str, Any], named: Mapping[str, str] = MappingProxyType({})) -> list[tuple[str, float]]:
    """The parts of the reward that a step tells in its info: those that are named, or those that are called so.

    `named` says where each part is: a key of `info`, with dots for keys inside.
    """
    if named:
        at = ((name, _inside(info, path)) for name, path in named.items())
        return [(name, float(part)) for name, part in at if _is_number(part)]
    found = []
    for key, value in info.items():
        if key in GROUPS and isinstance(value, Mapping):
            found += [(str(name), float(part)) for name, part in value.items() if _is_number(part)]
        elif key.startswith(PREFIXES) and _is_number(value):
            found.append((key.split("_", 1)[1], float(value)))
    return found


def _inside(info: Any, path: str) -> Any:
    for key in (path,) if path in info else path.split("."):
        info = info.get(key) if isinstance(info, Mapping) else None
    return info


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)
