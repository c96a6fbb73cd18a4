"""The answer: what is wrong with a run, why, and what is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rlclinic.model.environment_facts import EnvironmentFacts
from rlclinic.model.explanation import Explanation
from rlclinic.model.finding import Finding, NotChecked
from rlclinic.model.goal import Goal
from rlclinic.model.outlook import Outlook
from rlclinic.model.prescription import Prescription
from rlclinic.model.return_curve import ReturnCurve
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
    NO_FAULT_FOUND = "no-fault-found"
    """Of an environment that was examined without a training."""


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
class MetricOnset:
    """A metric that moved clearly, and when its move began."""

    metric: str
    logged_as: str
    step: float
    low: float
    """Lower end of the 95% interval of the step."""
    high: float
    change: float
    """By how much, with its sign."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """The component that the evidence for an implementation bug points to."""

    component: str
    """In the words of the probes: `advantage sign`, `done mask`, ..."""
    meaning: str
    """What a bug there does to a run."""
    reasons: tuple[str, ...]
    """Codes of the findings that point there."""
    command: str
    """What reproduces the bug on a task with a known answer."""
    probe: str
    """The probe that must fail if the component is broken, and its right answer."""
    config: tuple[tuple[str, str], ...]
    """The smallest config that shows the bug."""
    look_at: tuple[str, ...]
    """Files, classes and functions of the framework, most likely first."""
    places: tuple[str, ...] = ()
    """`file:line: code` in the user's own checkout, where one was named."""
    diff: str = ""
    """What to change there, where the code has a form that is known to be wrong."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything rlclinic says about one run."""

    run: Run
    verdict: Verdict
    reason: str
    """Why this verdict, in one sentence with numbers."""
    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    checked: int = 0
    """Rules that were checked, of those that were asked for."""
    causes: tuple[Cause, ...] = ()
    classes: Mapping[str, float] = field(default_factory=dict)
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    """By cause, of all that are in question: the pieces that make up its probability."""
    prescriptions: tuple[Prescription, ...] = ()
    """By priority; the first three lead."""
    decision_path: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()
    curves: Mapping[str, ReturnCurve] = field(default_factory=dict)
    """Every return that was logged, by its canonical name."""
    goal: Goal | None = None
    """From the user, else from the run's own files, else from the table of well-known tasks."""
    onsets: tuple[MetricOnset, ...] = ()
    """What moved around the trouble, the first first."""
    suspect: Suspect | None = None
    environment: EnvironmentFacts | None = None
    """What was measured about the environment."""
    guidelines: tuple[str, ...] = ()
    """Paths of the project's own guidelines, where something is to be changed: they come before any advice."""
    outlook: Outlook | None = None
    """Only for a run that is still going."""

    def _repr_html_(self) -> str:
        from rlclinic.model.notebook import diagnosis_html

        return diagnosis_html(self)
