"""What a change is expected to do: over all causes, probability times the effect of the change under that cause.

What was measured best is the share of the missing return that a change brought back where its cause was at work; it
comes first. Else: under the causes that a change treats it helps, under the others it does little or harm. Effects that
were measured on at least three environments enter with a predictive interval over environments: where the next
environment's effect is expected to lie. The others enter as guesses by the reach that the table of remedies states;
then the whole is one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from rlclinic.model.diagnosis import Cause
from rlclinic.model.effect import REGAINED, Direction
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Basis, Impact, Priority, Safety
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.proposals.effects import Effects, short_name
from rlclinic.prescriptions.proposals.predictive import COVERED, predictive
from rlclinic.prescriptions.remedies.table import Reach
from rlclinic.signals._robust import t_quantile

STEPS, RETURN = "steps-to-threshold", "final-return"
# Fewest environments that make an effect measured.
FEWEST_ENVIRONMENTS = 3
# Causes below this probability may lack a measurement without making the whole a guess.
MATERIAL = 0.1
# Guessed relative change of the steps to the goal where the treated cause is at work.
GUESSED: Mapping[Reach, tuple[float, float]] = {
    Reach.BLOCKING: (-0.9, -0.4),
    Reach.STRONG: (-0.6, -0.1),
    Reach.MILD: (-0.3, 0.0),
    Reach.SMALL: (-0.1, 0.05),
    Reach.NOTHING: (0.0, 0.0),
}
# The same where another cause is: a change that was not needed costs something.
HARM: Mapping[Safety, tuple[float, float]] = {
    Safety.SAFE: (0.0, 0.1),
    Safety.UNSAFE: (0.0, 0.2),
    Safety.ADVICE: (0.0, 0.05),
}
# Bounds of the priorities, as a share of the return or as fewer steps to the goal.
HIGH, MEDIUM = 0.3, 0.1


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What is changed, for looking effects up."""

    key: str
    direction: Direction
    reach: Reach
    safety: Safety
    treats: frozenset[str]
    """Causes that the change treats."""
    metric: str = ""
    """What it moves, where that is not the steps to the goal."""
    elsewhere: Reach | None = None
    """What it is thought to do where another cause leads, if the treated fault is surely there; None: harm."""


def impact_of(assessment: Assessment, planned: PlannedChange, effects: Effects) -> Impact:
    """The expected impact of a change, with the basis it rests on."""
    regained = _regained(assessment, planned, effects) if not planned.metric else None
    if regained is not None:
        return regained
    metric = planned.metric or (STEPS if has_goal(assessment) else RETURN)
    low = high = told = 0.0
    measured: dict[str, tuple[int, int]] = {}
    missing: list[str] = []
    for cause in assessment.causes.values():
        told += cause.probability
        interval, count = _measured(assessment, planned, cause.id, metric, effects)
        if interval is None:
            interval = _guessed(planned, cause, metric)
            if cause.id in planned.treats or cause.probability >= MATERIAL:
                missing.append(cause.id)
        else:
            measured[cause.id] = count
        low, high = low + cause.probability * interval[0], high + cause.probability * interval[1]
    # What was left out of the list counts as something else.
    rest = _signed(_elsewhere(planned), metric)
    low, high = low + max(0.0, 1.0 - told) * rest[0], high + max(0.0, 1.0 - told) * rest[1]
    basis = Basis.GUESS if missing or not measured else Basis.MEASURED
    return Impact(metric, round(low, 3), round(high, 3), basis, _source(measured, missing))


def priority_of(impact: Impact | None) -> Priority:
    """The priority that an expected impact earns; `critical` is not a matter of size."""
    if impact is None:
        return Priority.LOW
    middle = (impact.low + impact.high) / 2
    return priority_at_stake(-middle if impact.metric == STEPS else middle)


def priority_at_stake(share: float) -> Priority:
    """The priority of what may bring back so much of the return."""
    return Priority.HIGH if share > HIGH else Priority.MEDIUM if share >= MEDIUM else Priority.LOW


def has_goal(assessment: Assessment) -> bool:
    """Whether the run or its task names a return that counts as success."""
    return assessment.run.threshold is not None or (assessment.task is not None and assessment.task.target is not None)


def _regained(assessment: Assessment, planned: PlannedChange, effects: Effects) -> Impact | None:
    """The share of the missing return that the change is expected to bring back; None where too little was measured.

    Trials were made where the cause was at work: under other causes nothing is expected of the change.
    """
    treated = [cause for cause in assessment.causes.values() if cause.id in planned.treats]
    for cause in treated:
        for algorithm in (assessment.run.algorithm, ""):
            found = effects.by_environment(cause.id, planned.key, planned.direction, algorithm, REGAINED)
            if len(found) < FEWEST_ENVIRONMENTS:
                continue
            share = min(sum(item.probability for item in treated), 1.0)
            ends = predictive(found, short_name(assessment.run.environment))
            low, high = (share * min(max(end, -1.0), 1.0) for end in ends)
            trials = sum(number for _, number in found.values())
            source = f"measured on {trials} trials, {len(found)} environments, times the probability of the cause"
            return Impact(REGAINED, round(low, 3), round(high, 3), Basis.MEASURED, source)
    return None


def _measured(
    assessment: Assessment, planned: PlannedChange, cause: str, metric: str, effects: Effects
) -> tuple[tuple[float, float] | None, tuple[int, int]]:
    """The predictive interval of the effect under one cause, and the trials and environments that it rests on."""
    found = effects.by_environment(cause, planned.key, planned.direction, assessment.run.algorithm, metric)
    count = len(found)
    trials = sum(number for _, number in found.values())
    if count < FEWEST_ENVIRONMENTS:
        return None, (trials, count)
    values = [effect for effect, _ in found.values()]
    mean = sum(values) / count
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    reach = t_quantile(COVERED, count - 1) * spread * math.sqrt(1.0 + 1.0 / count)
    return (mean - reach, mean + reach), (trials, count)


def _guessed(planned: PlannedChange, cause: Cause, metric: str) -> tuple[float, float]:
    return _signed(GUESSED[planned.reach] if cause.id in planned.treats else _elsewhere(planned), metric)


def _elsewhere(planned: PlannedChange) -> tuple[float, float]:
    """What the change does where the treated cause is not the leading one."""
    return HARM[planned.safety] if planned.elsewhere is None else GUESSED[planned.elsewhere]


def _signed(interval: tuple[float, float], metric: str) -> tuple[float, float]:
    """Fewer steps are a higher return: the guess for one serves the other with the sign turned."""
    return interval if metric == STEPS else (-interval[1], -interval[0])


def _source(measured: Mapping[str, tuple[int, int]], missing: list[str]) -> str:
    if not measured:
        return "no trial of this change on three environments yet"
    told = "; ".join(
        f"in {trials} trials on {environments} environments under {cause}"
        for cause, (trials, environments) in measured.items()
    )
    return f"measured {told}" + (f"; guessed under {', '.join(missing)}" if missing else "")
