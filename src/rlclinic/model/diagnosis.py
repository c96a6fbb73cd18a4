"""The answer: what is wrong with a run, why, and what is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from rlclinic.model.answer import HARMLESS, Answer, answer_of
from rlclinic.model.explanation import Explanation
from rlclinic.model.finding import Finding, NotChecked, Severity
from rlclinic.model.goal import Goal
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import percent
from rlclinic.model.outlook import Outlook
from rlclinic.model.prescription import Prescription
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import Run

if TYPE_CHECKING:
    from rlclinic.model.environment_facts import EnvironmentFacts


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
    code: tuple[str, ...] = ()
    """Where the framework computes what it is about: file and function, or a line of the user's checkout."""


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
class Commands:
    """What to type next, each whole and with the options that name the run; empty where a command cannot help."""

    apply: str = ""
    """Writes the change into the user's file."""
    prove: str = ""
    """Trains with and without the change, or compares with the next run where only the user can train."""
    test: str = ""
    """The cheapest measurement that tells the leading causes apart."""
    ask: str = ""
    """Diagnoses the run again, as it was named; options may follow."""
    judge: str = ""
    """Asks again with what is missing for a judgement."""
    known_good: str = ""
    """Trains the settings that are known to work for the task."""
    known_good_for: str = ""
    """Algorithm and task of these settings."""


@dataclass(frozen=True, slots=True, repr=False)
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
    lacking: tuple[str, ...] = ()
    """Why a run without a fault may not be called healthy; none where it may."""
    commands: Commands = field(default_factory=Commands)

    @property
    def ranked(self) -> tuple[Cause, ...]:
        """The causes, the most probable first."""
        return tuple(sorted(self.causes, key=lambda cause: -cause.probability))

    @property
    def finds_nothing(self) -> bool:
        """Whether that nothing is wrong leads."""
        return bool(self.causes) and self.ranked[0].id in HARMLESS

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is wrong, and there are grounds to say so."""
        grave = any(finding.severity is Severity.ERROR for finding in self.findings)
        return self.finds_nothing and not self.lacking and not grave

    @property
    def answer(self) -> Answer:
        """What must be known first, in five lines; two for a healthy run."""
        return answer_of(self)

    def __str__(self) -> str:
        return str(self.answer)

    def __repr__(self) -> str:
        lead = f", {self.ranked[0].id} {percent(self.ranked[0].probability)}" if self.causes else ""
        return f"<Diagnosis of {self.run.id!r}: {self.verdict.value}{lead}, {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        from rlclinic.model.notebook import diagnosis_html

        return diagnosis_html(self)
