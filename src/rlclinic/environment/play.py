"""Play policies in an environment and keep every step."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rlclinic.facts.environment.episodes import GAMMA
from rlclinic.lab.instruments.episodes import components_in
from rlclinic.lab.instruments.flatten import Flatten, flat
from rlclinic.model.transitions import EpisodeTable, Space, Transitions

WAITING = 3.0
"""Seconds of waiting that count as one of work: other processes may have the processor."""
LONGEST = 5000
"""Steps after which an episode that has not ended is given up."""

Act = Callable[[Any], Any]
"""An observation -> an action, as the environment has them."""


_BEGAN = time.process_time(), time.monotonic()


def now() -> float:
    """Seconds of work: processor time, as far as the environment does not wait for something else."""
    return max(time.process_time() - _BEGAN[0], (time.monotonic() - _BEGAN[1]) / WAITING)


class StepFailed(Exception):  # noqa: N818 - reads as what it is
    """The environment raised; `where` is reset or step."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
        self.where = where


@dataclass(slots=True)
class Recorder:
    """Steps as they come; arrays in the end."""

    observation_space: Space
    action_space: Space
    see: Flatten
    do: Flatten
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    episodes: list[tuple[Any, ...]] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    unended: int = 0
    step_seconds: float = 0.0
    reset_seconds: float = 0.0
    clock: int = 0

    @property
    def steps(self) -> int:
        return len(self.rows)

    def transitions(self) -> Transitions:
        """Everything that was kept."""
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * 9
        names = list(dict.fromkeys(name for parts in self.parts for name in parts))[:24]
        width = self.observation_space.size
        return Transitions(
            self.observation_space,
            self.action_space,
            np.array(columns[0], dtype=np.float64).reshape(len(self.rows), width),
            np.array(columns[1], dtype=np.float64).reshape(len(self.rows), self.action_space.size),
            np.array(columns[2], dtype=np.float64),
            np.array(columns[3], dtype=np.float64).reshape(len(self.rows), width),
            np.array(columns[4], dtype=bool),
            np.array(columns[5], dtype=bool),
            np.array(columns[6], dtype=np.int64),
            np.array(columns[7], dtype=np.int64),
            np.zeros(len(self.rows), dtype=np.int64),
            np.array(columns[8], dtype=np.int64),
            {name: np.array([parts.get(name, np.nan) for parts in self.parts]) for name in names},
        )

    def table(self) -> EpisodeTable:
        """The episodes that ended."""
        columns = list(zip(*self.episodes, strict=True)) if self.episodes else [()] * 6
        width = self.observation_space.size
        return EpisodeTable(
            np.array(columns[0], dtype=np.float64),
            np.array(columns[1], dtype=np.float64),
            np.array(columns[2], dtype=bool),
            np.array(columns[3], dtype=np.float64).reshape(len(self.episodes), width),
            np.array(columns[4], dtype=np.float64).reshape(len(self.episodes), width),
            np.zeros(len(self.episodes), dtype=np.int64),
            np.array(columns[5], dtype=np.float64),
        )


def recorder_of(environment: Any) -> Recorder:
    """An empty record for the spaces of an environment."""
    observation_space, see = flat(environment.observation_space)
    action_space, do = flat(environment.action_space)
    return Recorder(observation_space, action_space, see, do)


def play(
    environment: Any, act: Act, record: Recorder, *, seed: int | None, end: float, longest: int = LONGEST
) -> tuple[float, int]:
    """One episode, or as much of it as there is time for (`end` is of `now`); its return and length."""
    began = time.perf_counter()
    observation = reset(environment, seed)
    record.reset_seconds += time.perf_counter() - began
    first = seen = record.see(observation)
    total = discounted = 0.0
    number = len(record.episodes) + 10_000_000 * bool(record.unended) + record.unended
    for length in range(longest):
        action = act(observation)
        began = time.perf_counter()
        observation, reward, terminated, truncated, info = step(environment, action)
        record.step_seconds += time.perf_counter() - began
        after = record.see(observation)
        record.rows.append(
            (seen, record.do(action), reward, after, terminated, truncated, number, length, record.clock)
        )
        record.parts.append(dict(components_in(info)) if info else {})
        record.clock += 1
        total += reward
        discounted += GAMMA**length * reward
        seen = after
        if terminated or truncated:
            record.episodes.append((total, length + 1, terminated, first, after, discounted))
            return total, length + 1
        if now() > end:
            break
    record.unended = max(record.unended, length + 1)
    return total, length + 1


def reset(environment: Any, seed: int | None) -> Any:
    """Reset; StepFailed where it raises or does not return a pair."""
    try:
        observation, _ = environment.reset(seed=seed)
    except Exception as error:
        raise StepFailed("reset", error) from error
    return observation


def step(environment: Any, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """Step; StepFailed where it raises or does not return five things."""
    try:
        observation, reward, terminated, truncated, info = environment.step(action)
        return observation, float(reward), bool(terminated), bool(truncated), info
    except Exception as error:
        raise StepFailed("step", error) from error
