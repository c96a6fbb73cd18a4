"""From a run of a trial to its outcome: final return, mean return over the budget, steps to the goal."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.run import Run, Status
from rlclinic.model.series import FloatArray, Series
from rlclinic.model.trial import Outcome, OutcomeState
from rlclinic.signals.crossing import crossing

# Share of the budget at the end over which the final return is taken.
END = 0.1
# Fewest evaluations that make a curve; below it the training returns are used, if there are more of them.
FEWEST_EVALUATIONS = 3
# Points of the stored curve.
CURVE_POINTS = 120


def measure(run: Run, arm: str, seed: int, *, budget: float, threshold: float | None, wall_time: float) -> Outcome:
    """What a run came to. One that died or logged no return failed, whatever its curve was before."""
    folder = str(run.location)
    series = _returns(run)
    steps = series.steps if series is not None else np.empty(0)
    if run.status.state is Status.CRASHED:
        return Outcome(arm, seed, OutcomeState.FAILED, wall_time=wall_time, folder=folder, error=run.status.reason)
    if series is None or steps.size == 0:
        why = "no return was logged"
        return Outcome(arm, seed, OutcomeState.FAILED, wall_time=wall_time, folder=folder, error=why)
    known = np.isfinite(series.values) & np.isfinite(steps)
    at, value = steps[known], series.values[known]
    reached = crossing(series, threshold).reached_step if threshold is not None else None
    return Outcome(
        arm=arm,
        seed=seed,
        state=OutcomeState.DONE,
        final_return=_final(at, value, budget),
        auc=_mean_over_budget(at, value, budget),
        steps_to_threshold=reached,
        wall_time=wall_time,
        # Training goes on after the last evaluation, and all of it was paid for.
        steps=max(float(at[-1]), run.env_steps or 0.0),
        folder=folder,
        curve=_curve(at, value),
    )


def _returns(run: Run) -> Series | None:
    evaluated, trained = run.series.get("return/eval"), run.series.get("return/train")
    # A run that stops at its goal may have one evaluation: with as few training returns it is the better witness.
    if evaluated is not None and _points(evaluated) >= min(FEWEST_EVALUATIONS, max(_points(trained), 1)):
        return evaluated
    return trained if _points(trained) else evaluated


def _points(series: Series | None) -> int:
    return 0 if series is None else int(np.isfinite(series.values).sum())


def _mean_over_budget(at: FloatArray, value: FloatArray, budget: float) -> float:
    """The first value counts from step 0 and the last up to the budget: a run that stopped at the goal held it."""
    x = np.concatenate([[min(0.0, at[0])], at, [max(budget, at[-1])]])
    y = np.concatenate([[value[0]], value, [value[-1]]])
    span = x[-1] - x[0]
    return float(np.trapezoid(y, x) / span) if span > 0 else float(value.mean())


def _final(at: FloatArray, value: FloatArray, budget: float) -> float:
    last = value[at >= min((1.0 - END) * budget, at[-1])]
    return float(last.mean())


def _curve(at: FloatArray, value: FloatArray) -> tuple[tuple[float, float], ...]:
    keep = np.unique(np.linspace(0, at.size - 1, min(CURVE_POINTS, at.size)).round().astype(int))
    return tuple((float(at[i]), float(value[i])) for i in keep if math.isfinite(value[i]))
