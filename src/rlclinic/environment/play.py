"""Play policies in an environment and keep every step."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.facts.environment.episodes import GAMMA
from rlclinic.lab.instruments.episodes import components_in
from rlclinic.lab.instruments.flatten import Flatten, flat
from rlclinic.model.environment_facts import Problem
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import EpisodeTable, Space, Transitions
from rlclinic.readers.redaction.redact import redact

WAITING = 3.0
"""Seconds of waiting that count as one of work, where the system does not tell waiting for the processor apart."""
SCHEDULED = Path("/proc/self/schedstat")
REFRESH = 0.1
"""Seconds between two looks there, which cost about a step of a small environment."""
LONGEST = 5000
"""Steps after which an episode that has not ended is given up."""

DISTANCE = re.compile(
    r"dist(ance)?(_?(to|from)_?(the_)?(goal|target)\w*)?|(goal|target)_?dist(ance)?|(\w+_)?err(or)?"
    r"|(\w+_)?(waiting|waiting_time|waited|delay|backlog|lateness|tardiness|violations?|collisions?|damage)", re.I
)  # fmt: skip
"""What `info` calls how far the state is from what is wanted, or what nobody wants."""
SUCCESS = ("is_success", "success")
"""What the end of an episode is called in `info`."""

Act = Callable[[Any], Any]
"""An observation -> an action, as the environment has them."""


class _Clock:
    """Seconds that this process worked or waited for something else than the processor, which others may have."""

    def __init__(self) -> None:
        self._began, self._queued, self._read = time.monotonic(), 0.0, 0.0
        self._ready = _queued()

    def __call__(self) -> float:
        passed = time.monotonic() - self._began
        if self._ready is None:
            return max(time.process_time(), passed / WAITING)
        if passed - self._read > REFRESH:
            self._read, self._queued = passed, (_queued() or 0.0) - self._ready
        return passed - self._queued


def _queued() -> float | None:
    """Seconds for which the process was ready to run and did not; None where the system does not tell."""
    try:
        return int(SCHEDULED.read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return None


now = _Clock()


class StepFailed(Exception):  # noqa: N818 - reads as what it is
    """The environment raised, or returned what nobody can go on with; `problem` tells it."""

    def __init__(self, kind: str, where: str, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(kind, where, message)


@dataclass(slots=True)
class Recorder:
    """Steps as they come; arrays in the end."""

    observation_space: Space
    action_space: Space
    see: Flatten
    do: Flatten
    components: Mapping[str, str] = field(default_factory=dict)
    """Where `info` tells the parts of the reward."""
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    episodes: list[tuple[Any, ...]] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    distance: str = ""
    """What `info` calls a distance or an error, and how large it was after each step."""
    successes: list[tuple[float, bool]] = field(default_factory=list)
    """Return of each episode of which `info` says whether it was a success, and what it says."""
    outcomes: list[float] = field(default_factory=list)
    """How well the task was done in each episode that was begun, by what `info` told last; NaN where it does not."""
    unended: int = 0
    step_seconds: float = 0.0
    reset_seconds: float = 0.0
    clock: int = 0

    @property
    def steps(self) -> int:
        return len(self.rows)

    def seen(self, observation: Any, where: str) -> FloatArray:
        """The observation as numbers; StepFailed where it has not those of its space."""
        try:
            row = self.see(observation)
        except Exception as error:
            raise StepFailed("breaks-contract", where, f"{_kind(observation)} as the observation") from error
        if row.shape != (self.observation_space.size,):
            told = f"an observation of {row.size} numbers where the space has {self.observation_space.size}"
            raise StepFailed("breaks-contract", where, told)
        return row

    def distance_in(self, info: Mapping[str, Any]) -> float:
        """What `info` tells of how far it is to what is wanted."""
        if not self.distance:
            self.distance = next((name for name in info if isinstance(name, str) and DISTANCE.fullmatch(name)), "")
        value = info.get(self.distance) if self.distance else None
        return float(value) if isinstance(value, int | float | np.number) else np.nan

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
            {self.distance: np.array(self.distances)} if self.distance else {},
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


def recorder_of(environment: Any, components: Mapping[str, str] | None = None) -> Recorder:
    """An empty record for the spaces of an environment."""
    observation_space, see = flat(environment.observation_space)
    action_space, do = flat(environment.action_space)
    return Recorder(observation_space, action_space, see, do, components or {})


def play(
    environment: Any, act: Act, record: Recorder, *, seed: int | None, end: float, longest: int = LONGEST
) -> tuple[float, int]:
    """One episode, or as much of it as there is time for (`end` is of `now`); its return and length."""
    began = time.perf_counter()
    observation = reset(environment, seed)
    record.reset_seconds += time.perf_counter() - began
    first = seen = record.seen(observation, "reset")
    total = discounted = 0.0
    outcome = np.nan
    number = len(record.episodes) + 10_000_000 * bool(record.unended) + record.unended
    for length in range(longest):
        action = act(observation)
        began = time.perf_counter()
        observation, reward, terminated, truncated, info = step(environment, action)
        record.step_seconds += time.perf_counter() - began
        after = record.seen(observation, "step")
        record.rows.append(
            (seen, record.do(action), reward, after, terminated, truncated, number, length, record.clock)
        )
        record.parts.append(dict(components_in(info, record.components)) if info else {})
        record.distances.append(record.distance_in(info))
        record.clock += 1
        total += reward
        discounted += GAMMA**length * reward
        seen = after
        if terminated or truncated:
            record.episodes.append((total, length + 1, terminated, first, after, discounted))
            if (told := next((info[key] for key in SUCCESS if key in info), None)) is not None:
                record.successes.append((total, bool(np.all(told))))
                outcome = float(np.all(told))
            break
        if now() > end:
            break
    if not (terminated or truncated):
        record.unended = max(record.unended, length + 1)
    record.outcomes.append(outcome if record.successes else -record.distances[-1])
    return total, length + 1


def reset(environment: Any, seed: int | None) -> Any:
    """Reset; StepFailed where it raises or does not return a pair."""
    try:
        found = environment.reset(seed=seed)
    except Exception as error:
        raise StepFailed("raised", "reset", message_of(error)) from error
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], Mapping):
        raise StepFailed("breaks-api", "reset", f"it returned {_kind(found)} where an observation and a dict are due")
    return found[0]


def step(environment: Any, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """Step; StepFailed where it raises or does not return five things."""
    try:
        found = environment.step(action)
    except Exception as error:
        raise StepFailed("raised", "step", message_of(error)) from error
    try:
        observation, reward, terminated, truncated, info = found
        return observation, float(reward), bool(terminated), bool(truncated), info
    except (TypeError, ValueError) as error:
        five = isinstance(found, tuple) and len(found) == 5
        told = (
            f"it returned {_kind(found[1]) + ' as the reward' if five else _kind(found) + ' where five things are due'}"
        )
        raise StepFailed("breaks-api", "step", told) from error


def message_of(error: Exception) -> str:
    """An exception in one line, without what it gives away."""
    return redact(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def _kind(value: Any) -> str:
    kind, shape = type(value).__name__, getattr(value, "shape", ())
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return f"{kind} of shape {shape}" if shape else kind
