"""A guide that cannot change what is optimal: a wrapper that pays the discounted difference of a potential.

Ng, Harada & Russell 1999: F = gamma * phi(s') - phi(s), with the gamma of training and phi = 0 after a real end (Grzes
2017).
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from rlclinic.lab.instruments.episodes import components_in
from rlclinic.model.errors import UsageError

SHAPING = "shaping"
"""What the term is called among the parts of the reward, where `rlclinic examine` finds it."""


class PotentialShaping(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds a potential from a progress variable: a key of `info`, or the index of a number of the observation.

    The potential is `scale` times the progress; a negative scale is for a variable that falls towards the goal.
    """

    def __init__(self, env: Any, progress: str | int, gamma: float = 0.99, scale: float = 1.0) -> None:
        super().__init__(env)
        self._progress, self._gamma, self._scale, self.potential = str(progress), gamma, scale, 0.0

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        seen, info = self.env.reset(**options)
        self.potential = self._scale * progress_of(self._progress, seen, info)
        return seen, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        seen, reward, terminated, truncated, info = self.env.step(action)
        now = 0.0 if terminated else self._scale * progress_of(self._progress, seen, info)
        added = self._gamma * now - self.potential
        self.potential = now
        parts = {"task": float(reward), **dict(components_in(info)), SHAPING: added}
        return seen, float(reward) + added, terminated, truncated, {**info, "reward_components": parts}


def progress_of(name: str, seen: Any, info: Any) -> float:
    """The progress variable at a step; UsageError where there is none. A reset may not tell a key: then it is 0."""
    if name.lstrip("-").isdigit():
        flat = np.ravel(np.asarray(seen, dtype=np.float64)) if not isinstance(seen, dict) else np.empty(0)
        if not -len(flat) <= int(name) < len(flat):
            raise UsageError(
                f"the observation has no number {name}", hint="an index of the observation, or a key of info"
            )
        return float(flat[int(name)])
    value = info.get(name, 0.0)
    if not isinstance(value, int | float | np.number):
        raise UsageError(f"info[{name!r}] is no number", hint="name another key, or an index of the observation")
    return float(value)
