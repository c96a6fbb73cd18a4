"""Returns, lengths, ends and reward components of training episodes, taken at the environment itself.

The wrapper sits inside every change of the reward that only training sees (scale, clip, normalisation), so the
returns are those of the task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

# Episodes that a mean return is taken over: Stable-Baselines3's and gymnasium-solver's window.
WINDOW = 100
# Reward components that are followed; an environment with hundreds of keys is not worth a column each.
MAX_COMPONENTS = 24
# How components are called in `info`: `reward_ctrl` (MuJoCo), `rew_vel`, `r_goal`; or a dict under one of these keys.
PREFIXES = ("reward_", "rew_")
GROUPS = ("reward_components", "rewards", "reward_terms")


class EpisodeLog:
    """What the training environments of a run report."""

    def __init__(self) -> None:
        self.count = 0
        self._returns: deque[float] = deque(maxlen=WINDOW)
        self._lengths: deque[float] = deque(maxlen=WINDOW)
        self._truncated: deque[float] = deque(maxlen=WINDOW)
        self._best = -np.inf
        self._since_row = 0
        self._reward_sum = 0.0
        self._steps = 0
        self._components: dict[str, float] = {}

    @property
    def mean_return(self) -> float | None:
        """Mean return of the last 100 episodes."""
        return float(np.mean(self._returns)) if self._returns else None

    def step(self, reward: float, info: Mapping[str, Any]) -> None:
        """One env step."""
        self._reward_sum += reward
        self._steps += 1
        if info:
            for name, value in _components(info):
                if name in self._components or len(self._components) < MAX_COMPONENTS:
                    self._components[name] = self._components.get(name, 0.0) + value

    def end(self, total: float, length: int, *, truncated: bool) -> None:
        """One finished episode."""
        self.count += 1
        self._since_row += 1
        self._returns.append(total)
        self._lengths.append(length)
        self._truncated.append(float(truncated))
        self._best = max(self._best, total)

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
        if self._steps:
            row["train/roll/reward/mean"] = self._reward_sum / self._steps
            for name, total in self._components.items():
                row[f"train/roll/reward_part/{name}"] = total / self._steps
        self._reward_sum, self._steps, self._since_row = 0.0, 0, 0
        self._components = dict.fromkeys(self._components, 0.0)
        return row


def _components(info: Mapping[str, Any]) -> list[tuple[str, float]]:
    found = []
    for key, value in info.items():
        if key in GROUPS and isinstance(value, Mapping):
            found += [(str(name), float(part)) for name, part in value.items() if _is_number(part)]
        elif key.startswith(PREFIXES) and _is_number(value):
            found.append((key.split("_", 1)[1], float(value)))
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)
