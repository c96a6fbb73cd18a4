"""The answer: what is wrong with a run, why, and what is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rlclinic.model.finding import Finding, NotChecked
from rlclinic.model.prescription import Prescription
from rlclinic.model.run import Run


class Verdict(StrEnum):
    """One word for a run; the first that applies, in this order."""

    NOT_RL = "not-rl"
    CRASHED = "crashed"
    INSUFFICIENT_DATA = "insufficient-data"
    MISCONFIGURED = "misconfigured"
    REWARD_HACKING = "reward-hacking"
    SOLVED = "solved"
    COLLAPSED = "collapsed"
    UNSTABLE = "unstable"
    NOT_LEARNING = "not-learning"
    INTERRUPTED = "interrupted"
    PLATEAUED = "plateaued"
    LEARNING = "learning"


@dataclass(frozen=True, slots=True)
class Cause:
    """A hypothesis about the leading cause, with its probability."""

    id: str
    cause_class: str
    kind: str
    title: str
    probability: float
    metrics_only: float = 0.0
    config_only: float = 0.0
    component: str | None = None
    supports: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything rlclinic says about one run."""

    run: Run
    verdict: Verdict
    reason: str
    """Why this verdict, in one sentence with numbers."""
    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    causes: tuple[Cause, ...] = ()
    classes: Mapping[str, float] = field(default_factory=dict)
    prescriptions: tuple[Prescription, ...] = ()
    """By priority; the first three lead."""
    decision_path: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        from rlclinic.model.notebook import diagnosis_html

        return diagnosis_html(self)
