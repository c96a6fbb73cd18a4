"""What an optimisation tried, what it kept and why."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.trial import Outcome


class Origin(StrEnum):
    """Who proposed a configuration."""

    START = "start"
    REFERENCE = "reference"
    """What is known to work, for this environment or for the algorithm in general."""
    PRESCRIPTION = "prescription"
    SEARCH = "search"
    CONFIRMATION = "confirmation"
    """Another seed of a configuration that looked better than the best so far."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of an optimisation."""

    number: int
    origin: Origin
    reason: str
    """The cause that the prescription treats; empty for others."""
    config: int
    """Which configuration; several attempts with different seeds share one."""
    changes: Mapping[str, object]
    """What differs from the starting configuration."""
    outcome: Outcome
    score: float
    """Env steps to the goal; beyond the budget of a run where it was not reached, more the farther it stayed."""
    used: float
    """Env steps of the whole optimisation up to and with this run."""
    best: float
    """The best score so far."""


@dataclass(frozen=True, slots=True)
class Optimisation:
    """A finished optimisation."""

    environment: str
    algorithm: str
    budget: float
    used: float
    threshold: float | None
    attempts: tuple[Attempt, ...]
    best: Mapping[str, Any]
    """The configuration that was kept, as config.json has it."""
    changes: Mapping[str, object]
    """What differs in it from the start."""
    scores: tuple[float, ...]
    """Of the kept configuration, one for each seed."""
    start_scores: tuple[float, ...]
    proved: bool
    """Whether the kept configuration beat the start beyond what seeds alone do."""
    notes: tuple[str, ...] = ()
