"""How well the agent did: start, best and end of each return, the gap to the goal, and the speed."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import RETURN_METRICS, Run, Status
from rlclinic.model.series import FloatArray, Series
from rlclinic.reports.page import Block, Code, Facts, Table, Words
from rlclinic.reports.text import number

AXIS_WORDS = {"env_steps": "env steps", "rows": "logged rows"}


def performance_blocks(diagnosis: Diagnosis) -> list[Block]:
    """What the performance section says: each return beside the goal."""
    run, curves = diagnosis.run, diagnosis.curves
    if run.is_environment:
        return []
    if run.returns is None or run.returns.name not in curves:
        return [Words(_not_logged(run))]
    rows = [_row(run.series[name], curve) for name, curve in curves.items()]
    blocks: list[Block] = [
        Table(
            ("metric", "start", "best", "at step", _end(run), "logged as"),
            tuple(rows),
            frozenset({1, 2, 3, 4}),
            cut=(0,),
            drop=(0,),
        )
    ]
    facts = [*_goal(diagnosis), *_speed(run)]
    if facts:
        blocks.append(Facts(tuple(facts)))
    blocks.append(
        Words(f"Start, best and {_end(run)} are levels: means over a stretch of the run, as single points are noise.")
    )
    blocks += [Words((f"{name}: {run.series[name].caveat}.",)) for name in curves if run.series[name].caveat]
    return blocks


def axis_words(axis: str) -> str:
    """What steps count, in words."""
    return AXIS_WORDS.get(axis, axis)


def duration(seconds: float) -> str:
    """A length of time as a person says it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _end(run: Run) -> str:
    """What a run that is still going has reached is no end."""
    return "now" if run.status.state is Status.RUNNING else "end"


def _at_end(run: Run) -> str:
    return "now" if run.status.state is Status.RUNNING else "at the end"


def _not_logged(run: Run) -> str:
    if not any(len(series) for series in run.series.values()):
        return "No metric was logged, so nothing here says how well the agent does."
    return (
        "The return is not logged, so nothing here says how well the agent does. Log the return of finished "
        "episodes, or name the column that holds it with --map return/train=COLUMN."
    )


def _row(series: Series, curve: ReturnCurve) -> tuple[str, ...]:
    values = (curve.start, curve.best, curve.best_step, curve.final)
    return (series.name, *(number(value) for value in values), Code(series.logged_as))


def _goal(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    goal, run = diagnosis.goal, diagnosis.run
    if goal is None or not math.isfinite(goal.level):
        return []
    returns = [(name, curve) for name, curve in diagnosis.curves.items() if name in RETURN_METRICS]
    found = [(name, _standing(diagnosis, run.series[name], curve, goal.level)) for name, curve in returns]
    return [("goal", f"{number(goal.level)}, {goal.origin}"), *found]


def _standing(diagnosis: Diagnosis, returns: Series, curve: ReturnCurve, goal: float) -> str:
    run = diagnosis.run
    above = np.flatnonzero(curve.values >= goal)
    at_start = goal - curve.start
    end = f"{number(curve.final - goal)} above it" if curve.final >= goal else _below(goal - curve.final, at_start)
    if not above.size and curve.final >= goal:
        return f"reached it at the end, which is {end}"
    if not above.size:
        never = "not reached so far" if _end(run) == "now" else "never reached it"
        if diagnosis.verdict is Verdict.SOLVED and "last" in returns.window:
            never = f"lags behind the agent, as a mean over the {returns.window}"
        return f"{never}: at best {_below(goal - curve.best, at_start)}, {_at_end(run)} {end}"
    step = float(curve.steps[int(above[0])])
    last = "it is now" if _end(run) == "now" else "the end is"
    return f"reached it first at step {number(step)}{_of_budget(run, returns, step)}; {last} {end}"


def _below(gap: float, at_start: float) -> str:
    if at_start <= 0:
        return f"{number(gap)} below it"
    further = gap > at_start
    share = "further away than at the start" if further else f"{100 * gap / at_start:.0f}% of the initial gap"
    return f"{number(gap)} below it ({share})"


def _of_budget(run: Run, returns: Series, step: float) -> str:
    if not run.budget or returns.axis != run.step_axis or not math.isfinite(run.budget):
        return ""
    return f", {100 * step / run.budget:.0f}% of the budget"


def _speed(run: Run) -> list[tuple[str, str]]:
    facts = []
    rates = _finite(run.series.get("fps"))
    if rates.size:
        facts.append(("speed", f"{number(float(np.median(rates)))} env steps per second (median)"))
    elapsed = _finite(run.series.get("time/elapsed"))
    seconds = float(elapsed.max()) if elapsed.size else (run.ended_at or 0.0) - (run.started_at or math.inf)
    if math.isfinite(seconds) and seconds > 0:
        facts.append(("wall time", duration(seconds)))
    return facts


def _finite(series: Series | None) -> FloatArray:
    return np.empty(0) if series is None else series.values[np.isfinite(series.values)]
