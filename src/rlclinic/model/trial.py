"""What a paired experiment found: the runs of each arm, the effect of each change, and what that proves."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Change

BASELINE = "baseline"


class TrialVerdict(StrEnum):
    """What an experiment says about a change."""

    PROVED = "proved"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class OutcomeState(StrEnum):
    """How one run of a trial ended."""

    DONE = "done"
    FAILED = "failed"
    """It ended with an error or left nothing to read."""
    STOPPED = "stopped"
    """Its arm was given up before it ended."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a trial."""

    arm: str
    seed: int
    state: OutcomeState
    final_return: float = float("nan")
    """Level of the return over the last tenth of the budget."""
    auc: float = float("nan")
    """Mean return over the budget; a run that stopped early counts as holding its last level."""
    steps_to_threshold: float | None = None
    """None where the goal was not reached, or is not known."""
    wall_time: float = float("nan")
    """Seconds."""
    steps: float = 0.0
    folder: str = ""
    error: str = ""
    curve: tuple[tuple[float, float], ...] = ()
    """Steps and returns, thinned."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One measure before and after the change; `better` says in which direction it counts."""

    metric: str
    """`auc`, `final-return`, `steps-to-threshold`, `wall-time`."""
    before: float
    after: float
    """Interquartile means over the seeds."""
    low: float
    high: float
    """95% bootstrap interval of after - before."""
    improvement: float
    """Probability that a run with the change beats one without it."""
    p_better: float
    p_worse: float
    """One-sided exact p of the rank sum."""

    @property
    def relative(self) -> float:
        """The change as a share of the level before."""
        return (self.after - self.before) / abs(self.before) if self.before else float("nan")


@dataclass(frozen=True, slots=True)
class ArmResult:
    """What the trial says about one set of changes."""

    name: str
    changes: tuple[Change, ...]
    verdict: TrialVerdict
    reason: str
    effects: tuple[Effect, ...]
    causes: tuple[str, ...] = ()

    def effect(self, metric: str) -> Effect | None:
        """The effect on a measure, where it could be measured."""
        return next((effect for effect in self.effects if effect.metric == metric), None)


@dataclass(frozen=True, slots=True)
class Trial:
    """A whole experiment."""

    id: str
    run: str
    """The run whose diagnosis asked for it."""
    environment: str
    algorithm: str
    budget: float
    seeds: tuple[int, ...]
    threshold: float | None
    arms: tuple[ArmResult, ...]
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    @property
    def leading(self) -> ArmResult:
        """The proved arm with the largest effect, else the first."""
        proved = [arm for arm in self.arms if arm.verdict is TrialVerdict.PROVED]
        return max(proved, key=_gain) if proved else self.arms[0]


def outcome_object(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data, to be stored or printed."""
    return {
        "arm": outcome.arm,
        "seed": outcome.seed,
        "state": outcome.state.value,
        "final_return": outcome.final_return,
        "auc": outcome.auc,
        "steps_to_threshold": outcome.steps_to_threshold,
        "wall_time": outcome.wall_time,
        "steps": outcome.steps,
        "folder": outcome.folder,
        "error": outcome.error,
        "curve": [list(point) for point in outcome.curve],
    }


def outcome_from(values: dict[str, Any]) -> Outcome:
    """The inverse of `outcome_object`."""
    curve = tuple((float(step), float(value)) for step, value in values["curve"])
    return Outcome(**{**values, "state": OutcomeState(values["state"]), "curve": curve})


def _gain(arm: ArmResult) -> float:
    effect = arm.effect("auc")
    return effect.improvement if effect else 0.0
