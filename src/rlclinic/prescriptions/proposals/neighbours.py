"""What other runs of the same task tell about a setting: which way a change of it helped, and which way it did not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rlclinic.causes.weights import weights
from rlclinic.facts.returns import return_curve
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.model.prescription import Change
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import Run
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.proposals.speed_up import SpeedUp
from rlclinic.reference.usual import size_of, value_of_size

# Settings that are no part of what is learned with.
ASIDE = frozenset({"seed", "total_steps", "total_updates", "n_actions"})
# A run that differs in more settings than this tells nothing about any of them.
MOST_CHANGES = 3
# Scales of the return by which two runs must differ for one to be better.
CLEAR = 3.0
# Share of the larger climb that the difference must make up as well: single runs scatter.
MATERIAL = 0.1
# Factor within which two values are one and the same try: half a careful step.
NEARLY = 1.5


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One setting of another run, seen from the run under diagnosis."""

    key: str
    up: bool
    """Whether the other run has the larger size of it."""
    better: bool
    """Whether it ended clearly higher."""
    worse: bool
    """Whether it ended clearly lower."""
    size: float
    """What the other run has."""


def neighbours_of(run: Run, others: Iterable[Run]) -> tuple[Neighbour, ...]:
    """What differs between a run and others of its task, and how they ended."""
    found: list[Neighbour] = []
    for other in others:
        if (other.environment, other.algorithm) != (run.environment, run.algorithm):
            continue
        keys = [key for key in run.config.settings if _differs(run, other, key)]
        difference = _difference(run, other)
        if difference is None or len(keys) > MOST_CHANGES:
            continue
        for key in keys:
            here, there = run.config.number(key), other.config.number(key)
            if here is not None and there is not None:
                size = size_of(key, there)
                found.append(Neighbour(key, size > size_of(key, here), difference > 0, difference < 0, size))
    return tuple(found)


def was_no_help(changes: Sequence[Change], neighbours: Sequence[Neighbour]) -> bool:
    """Whether another run made the first of these changes, or one in its direction, and did not end higher."""
    return any(_was_tried(change, item) for change in changes[:1] for item in neighbours)


def was_passed(changes: Sequence[Change], neighbours: Sequence[Neighbour]) -> bool:
    """Whether the first of these changes comes to, or goes past, what another run tried without ending higher."""
    return any(_was_tried(change, item) and _comes_to(change, item) for change in changes[:1] for item in neighbours)


def promising(assessment: Assessment, neighbours: Sequence[Neighbour]) -> list[SpeedUp]:
    """Further steps in a direction which has helped so far."""
    found = []
    for item in neighbours:
        if item.better == item.worse:
            continue
        # Away from a worse run, towards a better one.
        direction = "low" if item.up == item.better else "high"
        for cause, row in weights().causes.items():
            if (item.key, direction) in [(suspect.key, suspect.direction) for suspect in row.settings]:
                side = "higher" if item.better else "lower"
                why = (
                    f"A run with {item.key} {value_of_size(item.key, item.size):.3g} ended clearly {side} than this one"
                )
                found.append(SpeedUp(cause, f"{why}: a further step that way may help further."))
    return found


def _differs(run: Run, other: Run, key: str) -> bool:
    setting = run.config.settings[key]
    if key in ASIDE or setting.is_derived or key not in other.config:
        return False
    return bool(other.config.get(key) != setting.value)


def _difference(run: Run, other: Run) -> float | None:
    """How much higher the other run ended; 0 where that is not clear."""
    here, there = _curve(run), _curve(other)
    if here is None or there is None:
        return None
    difference = there.final - here.final
    climb = max(here.climb, there.climb, 0.0)
    return difference if abs(difference) > max(CLEAR * max(here.scatter, there.scatter), MATERIAL * climb) else 0.0


def _curve(run: Run) -> ReturnCurve | None:
    """The evaluations, where there are any: a mean over past episodes lags behind."""
    return return_curve(run.series.get("return/eval")) or return_curve(run.returns)


def _was_tried(change: Change, item: Neighbour) -> bool:
    """Whether another run has the setting of a change in its direction, and did not end higher."""
    before, after = number(change.before), number(change.after)
    if change.key != item.key or item.better or before is None or after is None:
        return False
    return (size_of(change.key, after) > size_of(change.key, before)) == item.up


def _comes_to(change: Change, item: Neighbour) -> bool:
    after = number(change.after)
    if after is None:
        return False
    size = size_of(change.key, after)
    # Less than a careful step short of what was tried tells nothing new.
    return size * NEARLY >= item.size if item.up else size <= item.size * NEARLY
