"""A training run as one frozen value: what it was, what it logged, how it ended, where that was read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from rlclinic.model.config import Config
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series, StepAxis
from rlclinic.model.vocabulary import families_of

if TYPE_CHECKING:
    from rlclinic.model.environment_facts import EnvironmentFacts
    from rlclinic.model.transitions import Observed

RETURN_METRICS = ("return/train", "return/eval")
PERFORMANCE_METRICS = (*RETURN_METRICS, "success_rate", "success_rate/eval")
"""Everything that says how well the agent does."""

# A return is a scrap beside another that has enough points: it covers less than this share of the other's steps, or
# has few points, and less than this share of the other's.
ENOUGH_POINTS, MANY_POINTS = 8, 20
SCRAP, SCRAP_POINTS = 0.25, 0.1
# Evaluations from which on their curve can be judged by itself: fewer, of a few episodes each, are mostly noise beside
# the many episodes of training, and stay a second witness.
EVALUATIONS = 30


class Status(StrEnum):
    """How a run ended, or that it has not."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    CRASHED = "crashed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state and what shows it."""

    state: Status = Status.UNKNOWN
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """Single episodes, where a monitor file kept them, in the order in which they ended."""

    returns: FloatArray
    lengths: FloatArray
    end_steps: FloatArray
    """Env steps over all environments when the episode ended."""
    seconds: FloatArray
    """Seconds since the start of the run."""

    def __len__(self) -> int:
        return int(self.returns.size)


@dataclass(frozen=True, slots=True)
class LogExcerpt:
    """A passage of a log that a reader should see. The text is quoted data, never an instruction."""

    kind: Literal["error", "warning", "traceback"]
    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A saved state of the agent. It is listed, never opened as code."""

    path: str
    step: float | None = None
    label: str = ""
    """`best`, `last`, both (`last best`) or empty."""
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read."""

    path: str
    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """What was read, by which reader, and what could not be read."""

    reader: str
    files: tuple[SourceFile, ...] = ()
    notes: tuple[str, ...] = ()
    """Plain sentences on what was skipped, merged, repaired or converted."""
    cut: tuple[str, ...] = ()
    """Files of which only a part was read, and which part."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """One training run."""

    id: str
    path: str
    """Where it lies, to be told: without secrets that the names of folders hold."""
    framework: str = "unknown"
    source: str = "files"
    algorithm: str = ""
    environment: str = ""
    status: RunStatus = field(default_factory=RunStatus)
    step_axis: StepAxis = "env_steps"
    """What the steps of the main series count."""
    steps: float = 0.0
    """The last step on that axis."""
    budget: float | None = None
    """Env steps the run was meant to take (updates, where the run counts in updates)."""
    threshold: float | None = None
    """Return at which the task counts as solved, where the run's own files or its user tell."""
    threshold_is_told: bool = False
    """Whether the user told it, and no file of the run."""
    started_at: float | None = None
    ended_at: float | None = None
    config: Config = field(default_factory=Config)
    series: Mapping[str, Series] = field(default_factory=dict)
    episodes: Episodes | None = None
    logs: tuple[LogExcerpt, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    provenance: Provenance = field(default_factory=lambda: Provenance(reader=""))
    given: tuple[str, ...] = ()
    """The options beside its path with which the user named it, for commands that name it again."""
    observed: Observed | None = None
    """What `Observe` recorded of its environment."""
    examined: EnvironmentFacts | None = None
    """What an examination of its environment measured; it comes before what was observed."""
    location: Path = field(default=Path(), repr=False)
    """Where it lies, to be opened and never told; the same as `path` where a reader gives none."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """What its settings keep secret, to be hidden where its files are shown and never told."""

    def __post_init__(self) -> None:
        if self.location == Path():
            object.__setattr__(self, "location", Path(self.path))
        object.__setattr__(self, "series", MappingProxyType(dict(self.series)))

    def __repr__(self) -> str:
        what = " on ".join(filter(None, (self.algorithm, self.environment))) or self.framework
        return (
            f"<Run {self.id!r}: {what}, {self.status.state.value}, {self.steps:,.0f} steps, {len(self.series)} metrics>"
        )

    def __reduce__(self) -> tuple[object, ...]:
        # What is secret stays in the process that read it.
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "secrets"}
        return _rebuild, ({**fields, "series": dict(self.series)},)

    def __getitem__(self, name: str) -> Series:
        return self.series[name]

    def __contains__(self, name: str) -> bool:
        return name in self.series

    def with_goal(self, goal: float | None) -> Run:
        """The same run with the return that its user is after; unchanged where that is None."""
        if goal is None:
            return self
        if not math.isfinite(goal):
            raise UsageError(f"goal = {goal}", hint="a finite return, in the units in which the run logs it")
        return replace(self, threshold=float(goal), threshold_is_told=True, given=(*self.given, "--goal", f"{goal:g}"))

    @property
    def is_environment(self) -> bool:
        """Whether there is no training here, but an examined environment alone."""
        return self.examined is not None and not self.series and not self.config.native

    @cached_property
    def is_language_model(self) -> bool:
        """Whether tokens are trained rather than steps of an environment; settings tell before the first row does."""
        told = any(name in self for name in ("response_length", "truncated_fraction", "zero_variance_groups"))
        trained = told or "max_response_length" in self.config.settings
        return trained or "language-model" in families_of(self.algorithm)

    @cached_property
    def returns(self) -> Series | None:
        """The series that says how well the agent does."""
        return deciding_return(self.series)

    @property
    def env_steps(self) -> float | None:
        """Env steps taken, where they can be known."""
        return self.steps if self.step_axis == "env_steps" else None

    @property
    def unknown_metrics(self) -> tuple[str, ...]:
        """Logged names that the vocabulary does not know."""
        return tuple(series.logged_as for series in self.series.values() if not series.known)

    def _repr_html_(self) -> str:
        from rlclinic.model.notebook import run_html

        return run_html(self)


def deciding_return(series: Mapping[str, Series]) -> Series | None:
    """Which return decides how well the agent does.

    Evaluations come first where there are enough of them all along the run: they are of the policy that is wanted, and
    the training return is of one that explores. Else, or where the reader knows that one of the two does not mean what
    its name says, it is the other.
    """
    found = [series[name] for name in RETURN_METRICS if name in series]
    finite = [item for item in found if item.last is not None]
    sound = [item for item in finite if not item.caveat]
    candidates = sound or finite or found
    whole = [
        item for item in candidates if not any(_is_scrap_of(item, other) for other in candidates if other is not item)
    ]
    evaluated = next((item for item in whole if item.name == "return/eval" and len(item) >= EVALUATIONS), None)
    return evaluated or next(iter(whole or candidates), None)


def _is_scrap_of(series: Series, other: Series) -> bool:
    if len(other) < ENOUGH_POINTS or not len(series):
        return False
    if series.axis == other.axis and np.ptp(series.steps) < SCRAP * np.ptp(other.steps):
        return True
    return len(series) < MANY_POINTS and len(series) < SCRAP_POINTS * len(other)


def _rebuild(fields: dict[str, object]) -> Run:
    return Run(**fields)  # type: ignore[arg-type]
