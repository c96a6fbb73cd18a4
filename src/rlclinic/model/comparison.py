"""Several runs side by side: how each did, what they were configured with, and where their curves part."""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.model.diagnosis import Verdict
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
    """Runs that reached the threshold."""


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
    winner: str = ""
    """Label of the run or group that is better beyond the noise; empty where none is."""
    summary: str = ""
    notes: tuple[str, ...] = ()
