"""The innermost wrapper: what episodes were really worth, whatever a fault shows to the trainer and to the log.

Every process trains one run, so the entries of a process are those of its run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium

from rlclinic.lab.evaluation import SEED_OFFSET


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode of the task itself."""

    at: int
    """Frames of training over all environments when it ended."""
    evaluation: bool
    total: float


class Ledger:
    """Episodes in the order in which they ended."""

    def __init__(self) -> None:
        self.episodes: list[Episode] = []
        self.frames = 0


LEDGER = Ledger()


class TrueReturns(gymnasium.Wrapper):  # type: ignore[misc]
    """Writes every episode of the task into the ledger of this process."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self._total, self._length, self._evaluation = 0.0, 0, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._close()
        if seed is not None:
            # Evaluations, and they alone, seed every episode, from a range of their own.
            self._evaluation = seed >= SEED_OFFSET
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._total += float(reward)
        self._length += 1
        if not self._evaluation:
            LEDGER.frames += 1
        if terminated or truncated:
            self._close()
        return observation, reward, terminated, truncated, info

    def _close(self) -> None:
        if self._length:
            LEDGER.episodes.append(Episode(LEDGER.frames, self._evaluation, self._total))
        self._total, self._length = 0.0, 0
