"""What to do about a cause: exact changes, what to expect of them and what they risk."""

from __future__ import annotations

import math
from enum import StrEnum

from rlclinic.model.lazy_dataclass import dataclass


class Priority(StrEnum):
    """How much depends on a change."""

    CRITICAL = "critical"
    """The run cannot converge without it."""
    HIGH = "high"
    """More than 30% fewer steps to the goal are expected."""
    MEDIUM = "medium"
    """10 to 30% fewer."""
    LOW = "low"
    """Less than 10%, or only a check."""

    @property
    def rank(self) -> int:
        """0 for the most urgent."""
        return list(Priority).index(self)


class PrescriptionKind(StrEnum):
    """What has to be touched."""

    CONFIG = "config"
    CODE = "code"
    ENVIRONMENT = "environment"
    DATA = "data"
    CHECK = "check"
    """An experiment that separates causes; it changes nothing."""


class Safety(StrEnum):
    """What a change does to the learning problem."""

    SAFE = "safe"
    """The learning problem stays the same."""
    UNSAFE = "unsafe"
    """Behaviour or the problem itself changes."""
    ADVICE = "advice"
    """Nothing that can be edited automatically."""


class Basis(StrEnum):
    """Where an expected impact comes from."""

    MEASURED = "measured"
    CITED = "cited"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Change:
    """One hyperparameter from its value to another."""

    key: str
    """Canonical name."""
    native_key: str
    """As the user writes it, nested keys joined with dots."""
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class Native:
    """A change as the user would write it."""

    format: str
    """The dialect: `rl-zoo-yaml`, `cleanrl-flags` ..."""
    text: str


@dataclass(frozen=True, slots=True)
class Impact:
    """Expected relative change of a metric, as an interval: -0.3 of steps-to-threshold is 30% fewer steps."""

    metric: str
    """`missing-return` (the share of it that comes back), `steps-to-threshold`, else `final-return`."""
    low: float
    high: float
    basis: Basis
    source: str = ""
    """The trials, the citation, or why it is a guess."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ValueError(f"an impact needs a finite interval, not {self.low} to {self.high}")


@dataclass(frozen=True, slots=True)
class Prescription:
    """One thing to do, with its reasons."""

    priority: Priority
    kind: PrescriptionKind
    instruction: str
    """What to do, in one or two sentences; code or a wrapper where the config cannot hold it."""
    rationale: str
    """Why, quoting the evidence."""
    expected_impact: Impact | None
    """None for a check, which changes nothing."""
    risk: str
    safety: Safety
    causes: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    native: Native | None = None
    code: str = ""
    """A snippet to use, where the change is code."""
    watch: tuple[str, ...] = ()
    """Canonical metrics to look at in the next run."""

    def __post_init__(self) -> None:
        if self.kind is PrescriptionKind.CONFIG and not self.changes:
            raise ValueError("a config prescription names its changes")
        if not self.causes:
            raise ValueError("a prescription names the causes it treats")
