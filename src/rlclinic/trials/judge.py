"""From the outcomes of two arms to a verdict: proved, refuted or inconclusive, and whether more seeds can change it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rlclinic.comparison.interquartile_mean import interquartile_mean
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Change
from rlclinic.model.trial import ArmResult, Effect, Outcome, OutcomeState, TrialVerdict
from rlclinic.trials.statistics import difference_interval, p_value, probability_of_improvement

# One-sided. With three seeds an arm the change must win every comparison, with five about 22 of 25.
ALPHA = 0.05
# Fewest finished runs on each side before anything is said.
FEWEST_SEEDS = 3
# Share of the climb that a run must lose after its peak to have fallen back, and points that make a curve.
FALLEN = 0.25
FEWEST_POINTS = 5


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    higher_is_better: bool
    value: Callable[[Outcome], float]


def judge(
    name: str,
    changes: tuple[Change, ...],
    before: Sequence[Outcome],
    after: Sequence[Outcome],
    *,
    budget: float,
    causes: tuple[str, ...] = (),
    alpha: float = ALPHA,
) -> ArmResult:
    """Hold the runs with a change against those without it.

    The mean return over the budget decides, because it counts both a higher end and a faster way to it; a clearly worse
    end refutes whatever the mean says. `alpha` is smaller where several arms are tried (see `levels`).
    """
    failed = sum(outcome.state is OutcomeState.FAILED for outcome in after)
    old, new = _finished(before), _finished(after)
    effects = tuple(_effect(measure, old, new, budget) for measure in _measures(old, new))
    verdict, reason = _verdict(effects, len(old), len(new), failed, alpha)
    return ArmResult(name, changes, verdict, reason, effects, causes)


def levels(arms: Sequence[ArmResult]) -> list[float]:
    """The level at which each arm is judged so that all of them together err as rarely as one would (Holm 1979).

    The surest arm must pass alpha / n, the next alpha / (n - 1), and so on; after the first that fails none passes.
    """
    sureness = [
        min([1.0, *(effect.p_better for effect in arm.effects[:1]), *(effect.p_worse for effect in arm.effects[:2])])
        for arm in arms
    ]
    found, holds = [0.0] * len(arms), True
    for place, index in enumerate(sorted(range(len(arms)), key=lambda at: sureness[at])):
        level = ALPHA / (len(arms) - place)
        holds = holds and sureness[index] <= level
        found[index] = level if holds else min(level, ALPHA / len(arms))
    return found


def falls_back(after: Sequence[Outcome]) -> tuple[float, float] | None:
    """The peak and the end, means over the seeds, of an arm most of whose runs lose much of their climb again."""
    pairs = [(_peak(o), o.curve[0][1], o.final_return) for o in _finished(after) if len(o.curve) >= FEWEST_POINTS]
    fallen = [(peak, end) for peak, start, end in pairs if peak - end > FALLEN * max(peak - start, 0.0) > 0.0]
    if not pairs or 2 * len(fallen) <= len(pairs):
        return None
    return sum(peak for peak, _ in fallen) / len(fallen), sum(end for _, end in fallen) / len(fallen)


def _peak(outcome: Outcome) -> float:
    """The highest mean of a tenth of the curve: a single lucky evaluation is no peak."""
    values = [value for _, value in outcome.curve]
    width = max(2, len(values) // 10)
    return max(sum(values[at : at + width]) / width for at in range(len(values) - width + 1))


def can_still_be_proved(before: Sequence[Outcome], after: Sequence[Outcome], planned: int) -> bool:
    """Whether the change would be proved if every run that is still to come favoured it.

    True before the fewest seeds are there: a verdict of any kind needs them.
    """
    if min(len(before), len(after)) < FEWEST_SEEDS:
        return True
    old, new = [o.auc for o in _finished(before)], [o.auc for o in _finished(after)]
    lost = sum(outcome.state is OutcomeState.FAILED for outcome in after)
    best_new = new + [math.inf] * max(0, planned - len(new) - lost)
    best_old = old + [-math.inf] * max(0, planned - len(old))
    return min(len(best_new), len(best_old)) >= FEWEST_SEEDS and p_value(best_old, best_new) <= ALPHA


def _finished(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [o for o in outcomes if o.state is OutcomeState.DONE and math.isfinite(o.auc)]


def _measures(old: Sequence[Outcome], new: Sequence[Outcome]) -> list[_Measure]:
    measures = [
        _Measure("auc", higher_is_better=True, value=lambda o: o.auc),
        _Measure("final-return", higher_is_better=True, value=lambda o: o.final_return),
    ]
    if any(outcome.steps_to_threshold is not None for outcome in (*old, *new)):
        measures.append(_Measure("steps-to-threshold", higher_is_better=False, value=_steps))
    measures.append(_Measure("wall-time", higher_is_better=False, value=lambda o: o.wall_time))
    return measures


def _steps(outcome: Outcome) -> float:
    return math.inf if outcome.steps_to_threshold is None else outcome.steps_to_threshold


def _effect(measure: _Measure, old: Sequence[Outcome], new: Sequence[Outcome], budget: float) -> Effect:
    sign = 1.0 if measure.higher_is_better else -1.0
    before, after = [measure.value(o) for o in old], [measure.value(o) for o in new]
    worth_before, worth_after = [sign * x for x in before], [sign * x for x in after]
    # A run that never reached the threshold counts as having needed the whole budget, which flatters it.
    capped_before, capped_after = [min(x, budget) for x in before], [min(x, budget) for x in after]
    if measure.name != "steps-to-threshold":
        capped_before, capped_after = before, after
    low, high = difference_interval(capped_before, capped_after)
    return Effect(
        measure.name,
        interquartile_mean(capped_before),
        interquartile_mean(capped_after),
        low,
        high,
        probability_of_improvement(worth_before, worth_after),
        p_value(worth_before, worth_after),
        p_value(worth_after, worth_before),
    )


def _verdict(effects: Sequence[Effect], old: int, new: int, failed: int, alpha: float) -> tuple[TrialVerdict, str]:
    auc, final = effects[0], effects[1]
    if min(old, new) < FEWEST_SEEDS:
        why = f", {failed} with the change failed" if failed else ""
        return TrialVerdict.INCONCLUSIVE, f"only {old} runs without and {new} with the change finished{why}"
    for effect, what in ((auc, "mean return over the budget"), (final, "final return")):
        if effect.p_worse <= alpha:
            return TrialVerdict.REFUTED, f"{what} fell from {effect.before:.4g} to {effect.after:.4g} {_sure(effect)}"
    if auc.p_better <= alpha:
        words = f"mean return over the budget rose from {auc.before:.4g} to {auc.after:.4g} {_sure(auc)}"
        return TrialVerdict.PROVED, words
    return (
        TrialVerdict.INCONCLUSIVE,
        f"mean return over the budget went from {auc.before:.4g} to {auc.after:.4g}, within what seeds alone do "
        f"(p {min(auc.p_better, auc.p_worse):.2g}{f', of at most {alpha:.2g} asked for' if alpha < ALPHA else ''})",
    )


def _sure(effect: Effect) -> str:
    p, wins = min(effect.p_better, effect.p_worse), max(effect.improvement, 1.0 - effect.improvement)
    return f"({100 * wins:.0f}% of the pairs agree, p {p:.2g})"
