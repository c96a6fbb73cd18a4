"""What a rule returns when it sees something; the registry adds code, title and family."""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.model.finding import Evidence, Severity


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule's answer: how bad, how sure, one line with numbers, and the arithmetic behind it."""

    severity: Severity
    confidence: float
    summary: str
    evidence: tuple[Evidence, ...]
    onset_step: float | None = None
    chance: float | None = None
    """Probability of such a measurement where nothing is wrong; None where chance cannot make it."""
