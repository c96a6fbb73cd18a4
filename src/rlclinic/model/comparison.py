"""Several runs side by side: how each did, what they were configured with, and where their curves part."""

from __future__ import annotations

from rlclinic.model.diagnosis import Verdict
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How one run did."""

    run: Run
    label: str
    """Short and unique within the comparison."""
    verdict: Verdict
    cause: str
    """Id of the leading cause."""
    cause_probability: float
    final: float | None = None
    """Level of the return over the last tenth."""
    final_low: float | None = None
    """Lower end of its 95% interval."""
    final_high: float | None = None
    best: float | None = None
    """Highest level of the smoothed return."""
    best_step: float | None = None
    area: float | None = None
    """Mean return up to the last step that all compared runs have."""
    threshold: float | None = None
    steps_to_threshold: float | None = None
    seconds: float | None = None
    """Wall time."""
    fps: float | None = None
    """Env steps per second, in the middle."""
    reference: bool = False
    """Whether it was not asked for but is the best run of the history."""


@dataclass(frozen=True, slots=True)
class SeedGroup:
    """Runs of one config that differ in their seeds alone."""

    label: str
    members: tuple[str, ...]
    """Labels of the runs."""
    final: float
    """Interquartile mean of the final returns."""
    final_low: float
    """Lowest final return."""
    final_high: float
    area: float
    reached: int
    """Runs that reached the goal."""


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """One hyperparameter that is not the same in all runs."""

    key: str
    title: str
    values: tuple[object, ...]
    """One per run, in their order; None where the run's files do not tell."""
    distance: float | None
    """Between the farthest two values, in spreads of working configs; None where that has no meaning."""
    defaults: tuple[bool, ...] = ()
    """Whether the value is the framework's default rather than set by the user."""


@dataclass(frozen=True, slots=True)
class FirstMove:
    """A metric that differed between two runs no later than their returns did."""

    metric: str
    logged_as: str
    step: float
    from_start: bool
    """Whether it differed as soon as it was logged."""
    difference: float
    """Mean of the first minus the second run's values from there on."""
    probability: float | None = None
    """That it moved before the return; None where the metric differed from the start."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Where the returns of two runs, or of two groups of seeds, part."""

    first: str
    second: str
    step: float | None
    """None where the difference never exceeds the noise for long."""
    rejoin_step: float | None = None
    """Where they meet again; None where they stay apart."""
    from_start: bool = False
    difference: float | None = None
    """Mean return of the first minus that of the second from there on."""
    noise: float | None = None
    """Difference that noise alone explains."""
    moves: tuple[FirstMove, ...] = ()
    """The earliest first."""
    same_algorithm: bool = True
    """Losses and the like of different algorithms are different things: there are no moves then."""
    reason: str = ""
    """Why nothing could be said, where that is so."""


@dataclass(frozen=True, slots=True)
class BandPoint:
    """A value beside the band that known-good runs had at the same place."""

    step: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MetricInBand:
    """One metric beside the band that known-good runs had at the same share of the budget."""

    metric: str
    logged_as: str
    value: float
    """In the last twentieth of the budget that both have."""
    low: float
    high: float
    outside: float
    """Share of the budget, of what both have, that it lies outside of the band."""
    since: float | None
    """Share of the budget from which on it is outside; None where it ends inside."""


@dataclass(frozen=True, slots=True)
class RankedDifference:
    """One setting that differs from the known-good config, with how much that is thought to matter."""

    key: str
    title: str
    value: object
    """None: switched off."""
    reference: object
    score: float
    """Orders the differences of one run; it is no probability."""
    is_default: bool
    """Whether the run's value is a default of its framework rather than set by the user."""
    reason: str


@dataclass(frozen=True, slots=True)
class FrameworkDifference:
    """What two frameworks do differently under the same settings."""

    title: str
    names: tuple[str, str]
    """The frameworks."""
    first: str
    second: str
    weight: str
    """strong, moderate or slight."""
    why: str


@dataclass(frozen=True, slots=True)
class AgainstReference:
    """One run beside what is known to work on its task with its algorithm."""

    label: str
    known: str
    """Which known-good runs, in words; empty where none are kept."""
    settings_of: str
    """Whose settings it is held against; empty where there are none."""
    curve: tuple[BandPoint, ...] = ()
    """The return over env steps."""
    curve_name: str = ""
    metrics: tuple[MetricInBand, ...] = ()
    """The farthest outside first."""
    differences: tuple[RankedDifference, ...] = ()
    """What is thought to matter most first."""
    frameworks: tuple[FrameworkDifference, ...] = ()
    """Between the run's framework and that of the known-good runs."""
    published: tuple[str, ...] = ()
    is_configured: bool = True
    """Whether a config was read."""
    notes: tuple[str, ...] = ()
    summary: str = ""
    """Where it ended, over how many seeds, and whether one difference alone could be why."""

    @property
    def below(self) -> float | None:
        """Share of the points of the curve below the band."""
        return sum(point.value < point.low for point in self.curve) / len(self.curve) if self.curve else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything rlclinic says about several runs side by side."""

    outcomes: tuple[RunOutcome, ...]
    environments: tuple[str, ...]
    """More than one: the returns are on different scales and are not ranked."""
    groups: tuple[SeedGroup, ...] = ()
    differences: tuple[SettingDifference, ...] = ()
    """The farthest apart first; those without a distance after them."""
    apart: tuple[SettingDifference, ...] = ()
    """Seeds, names, paths and budgets: they differ and explain nothing by themselves."""
    partings: tuple[Parting, ...] = ()
    confounded: tuple[str, ...] = ()
    """Settings that differ beside the change that is meant; the outcome cannot be laid to any one of them."""
    frameworks: tuple[FrameworkDifference, ...] = ()
    """What two frameworks do differently under the same settings, where the runs are of two."""
    references: tuple[AgainstReference, ...] = ()
    """Each asked run beside what is known to work, where that was asked for."""
    winner: str = ""
    """Label of the run or group that is better beyond the noise; empty where none is."""
    summary: str = ""
    notes: tuple[str, ...] = ()
