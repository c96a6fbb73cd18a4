"""How well the agent did: start, best and end of each return, the gap to the goal, and the speed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlclinic.model.diagnosis import Target
from rlclinic.model.run import RETURN_METRICS, Run, Status
from rlclinic.model.series import FloatArray, Series
from rlclinic.reports.page import Block, Code, Facts, Table, Words
from rlclinic.reports.text import number

# Shares of a return's points that count as its start and its end: short at the start because learning begins there.
START_SHARE = 0.06
END_SHARE = 0.12

SHOWN = ("return/train", "return/eval", "success_rate", "success_rate/eval")

AXIS_WORDS = {"env_steps": "env steps", "rows": "logged rows"}


@dataclass(frozen=True, slots=True)
class Course:
    """A return in a few numbers."""

    start: float
    best: float
    best_step: float
    end: float


def course(series: Series | None) -> Course | None:
    """Start and end as means of their windows, the best single value and its step; None without a finite value."""
    steps, values = finite(series)
    if not values.size:
        return None
    first = max(1, round(START_SHARE * values.size))
    last = max(1, round(END_SHARE * values.size))
    best = int(values.argmax())
    return Course(
        _mean(values[:first]),
        float(values[best]),
        float(steps[best]),
        _mean(values[-last:]),
    )


def performance_blocks(run: Run, target: Target | None = None) -> list[Block]:
    """What the performance section says. The run's own threshold is the goal; else the target of its task."""
    returns = run.returns
    main = course(returns)
    if returns is None or main is None:
        return [Words(_not_logged(run))]
    shown = [run.series[name] for name in SHOWN if name in run]
    rows = [_row(series) for series in shown if course(series) is not None]
    blocks: list[Block] = [
        Table(
            ("metric", "start", "best", "at step", _end(run), "logged as"),
            tuple(rows),
            frozenset({1, 2, 3, 4}),
            cut=(0,),
            drop=(0,),
        )
    ]
    facts = [*_goal(run, target), *_speed(run)]
    if facts:
        blocks.append(Facts(tuple(facts)))
    windows = f"first {100 * START_SHARE:.0f} % of the points, {_end(run)} of the last {100 * END_SHARE:.0f} %"
    blocks.append(Words(f"Start is the mean of the {windows}; best is the highest single value."))
    blocks += [Words((f"{series.name}: {series.caveat}.",)) for series in shown if series.caveat]
    return blocks


def finite(series: Series | None) -> tuple[FloatArray, FloatArray]:
    """The steps and values of the finite points."""
    if series is None:
        return np.empty(0), np.empty(0)
    sound = np.isfinite(series.values) & np.isfinite(series.steps)
    return series.steps[sound], series.values[sound]


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


def _mean(values: FloatArray) -> float:
    # Divided first, so that the sum of huge values stays finite.
    return float((values / values.size).sum())


def _not_logged(run: Run) -> str:
    if not any(len(series) for series in run.series.values()):
        return "No metric was logged, so nothing here says how well the agent does."
    return (
        "The return is not logged, so nothing here says how well the agent does. Log the return of finished "
        "episodes, or name the column that holds it with --map return/train=COLUMN."
    )


def _row(series: Series) -> tuple[str, ...]:
    found = course(series)
    assert found is not None
    values = (found.start, found.best, found.best_step, found.end)
    return (series.name, *(number(value) for value in values), Code(series.logged_as))


def _goal(run: Run, target: Target | None) -> list[tuple[str, str]]:
    if run.threshold is not None and not run.threshold_is_told:
        level, facts = run.threshold, [("threshold", number(run.threshold))]
    elif target is not None:
        level, facts = target.level, [("goal", f"{number(target.level)}, {target.origin}")]
    else:
        return []
    if not math.isfinite(level):
        return []
    for name in RETURN_METRICS:
        found = course(run.series.get(name))
        if found is not None:
            facts.append((name, _standing(run, run.series[name], found, level)))
    return facts


def _standing(run: Run, returns: Series, found: Course, goal: float) -> str:
    steps, values = finite(returns)
    above = np.flatnonzero(values >= goal)
    at_start = goal - found.start
    end = f"{number(found.end - goal)} above it" if found.end >= goal else _below(goal - found.end, at_start)
    if not above.size:
        never = "not reached so far" if _end(run) == "now" else "never reached it"
        return f"{never}: best {_below(goal - found.best, at_start)}, {_end(run)} {end}"
    step = float(steps[int(above[0])])
    last = "it is now" if _end(run) == "now" else "the end is"
    return f"reached it first at step {number(step)}{_of_budget(run, returns, step)}; {last} {end}"


def _below(gap: float, at_start: float) -> str:
    share = f" ({100 * gap / at_start:.0f} % of the gap at the start)" if at_start > 0 else ""
    return f"{number(gap)} below it{share}"


def _of_budget(run: Run, returns: Series, step: float) -> str:
    if not run.budget or returns.axis != run.step_axis or not math.isfinite(run.budget):
        return ""
    return f", {100 * step / run.budget:.0f} % of the budget"


def _speed(run: Run) -> list[tuple[str, str]]:
    facts = []
    _, rates = finite(run.series.get("fps"))
    if rates.size:
        facts.append(("speed", f"{number(float(np.median(rates)))} env steps per second (median)"))
    _, elapsed = finite(run.series.get("time/elapsed"))
    seconds = float(elapsed.max()) if elapsed.size else (run.ended_at or 0.0) - (run.started_at or math.inf)
    if math.isfinite(seconds) and seconds > 0:
        facts.append(("wall time", duration(seconds)))
    return facts
