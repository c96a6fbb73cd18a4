"""What a rule saw, with its arithmetic; and what could not be checked."""

from __future__ import annotations

from enum import StrEnum

from rlclinic.model.lazy_dataclass import dataclass


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Larger is worse."""
        return ("info", "warning", "error").index(self.value)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One comparison: a number of the run, and what it was held against."""

    metric: str
    """Canonical metric, or the hyperparameter for a finding about the config."""
    logged_as: str
    value: float
    threshold: float | None = None
    steps: tuple[float, float] | None = None
    points: int = 0
    note: str = ""
    """What the value is: `mean of the last 10%`, `ratio of end to start`, ..."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a rule saw."""

    code: str
    title: str
    family: str
    severity: Severity
    confidence: float
    summary: str
    """One line with concrete numbers."""
    evidence: tuple[Evidence, ...] = ()
    onset_step: float | None = None
    name: str = ""
    """Name of the rule, for people: `entropy-fell-early`."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"{self.code}: confidence {self.confidence} is not a probability")

    @property
    def names(self) -> frozenset[str]:
        """The metrics that it rests on, as they were logged."""
        return frozenset(item.logged_as for item in self.evidence)


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A rule that could not be checked. Absent is not healthy."""

    code: str
    title: str
    needs: tuple[str, ...]
    """Inputs that are missing: what would enable it."""
    error: str = ""
    """The exception, where the rule itself failed on this run."""
