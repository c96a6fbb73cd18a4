"""What the run is meant to reach, what a random policy gets, and whether the goal was reached and held."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rlclinic.facts.outcome import END_SHARE
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.model.run import Status
from rlclinic.model.series import FloatArray, Series
from rlclinic.reference.tasks import Task, task_of

# How far above the best published return a return may lie, in ranges from random to best, before it must be on
# another scale (a wrapper multiplies rewards).
ABOVE_BEST = 0.5
# The same below the random policy.
BELOW_RANDOM = 0.5
# How far the pay per step may be from 1 or -1: the end of an episode may pay another one.
SAME_PAY = 0.15
# Share of the way from random to goal by which the end may miss the goal and still hold it.
TOLERANCE = 0.02
# Points that must show the goal before it counts as reached: one lucky evaluation is none.
FEWEST_ABOVE = 3
# Share of the budget, or of the steps that published runs needed, before which nothing is expected of a run.
MATERIAL = 0.5
# Share of the way to the goal that a run with that much time behind it must have made not to lag behind.
BEHIND = 0.15
# A curve is judged by at most this many bins, so that single episodes average out.
BINS = 60
# Evaluations, and share of them, that say how the policy of the end does where it is tried.
FEWEST_TRIED, TRIED = 4, 0.5
# Share of the way to the goal by which their mean must fall short of it, beyond its standard error.
SHORT = 0.2


@dataclass(frozen=True, slots=True)
class Goal:
    """The return that counts as success."""

    level: float
    source: Literal["user", "run", "task"]
    """Whether the user told it, the run's own files name it, or the table of well-known tasks."""
    base: float
    """Where the way to the goal begins: the random policy's return, else the run's start."""
    task: Task | None

    def share(self, value: float) -> float:
        """How much of the way from the base to the goal a return has made."""
        return (value - self.base) / (self.level - self.base) if self.level != self.base else 1.0

    @property
    def is_own(self) -> bool:
        """Whether it was set for this very run, and not for its task in general."""
        return self.source != "task"

    @property
    def origin(self) -> str:
        """In words, for a report."""
        if self.source == "user":
            return "told by the user"
        if self.source == "run" or self.task is None:
            return "the run's own threshold"
        return f"the {'threshold' if self.task.threshold == self.level else 'usual target'} of {self.task.name}"


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a series came to a level, and whether it stayed."""

    series: Series
    step: float
    """First step from which three points in a row average the level."""
    held: bool
    end: float


@fact
def goal_of(facts: RunFacts) -> Goal | None:
    """The goal, where the run or the table of tasks names one."""
    task, outcome = known_task(facts), facts.outcome
    level = facts.run.threshold
    if level is None and task is not None:
        level = task.target if task.target is not None else task.threshold
    if level is None or outcome is None:
        return None
    base = outcome.start
    if task is not None and task.random_mean is not None and task.random_mean < level:
        base = task.random_mean
    return Goal(level, _source(facts), base, task)


def _source(facts: RunFacts) -> Literal["user", "run", "task"]:
    if facts.run.threshold is None:
        return "task"
    return "user" if facts.run.threshold_is_told else "run"


@fact
def known_task(facts: RunFacts) -> Task | None:
    """The well-known task of the run, if its returns are on that task's scale."""
    task = task_of(facts.run.environment) if facts.run.environment else None
    outcome = facts.outcome
    if task is not None and _pays_otherwise(facts, task):
        return None
    if task is None or outcome is None or task.random_mean is None or task.best_return is None:
        return task
    way = task.best_return - task.random_mean
    if way <= 0:
        return task
    too_high = outcome.peak > task.best_return + ABOVE_BEST * way
    spread = task.random_std or 0.0
    too_low = outcome.peak < task.random_mean - max(BELOW_RANDOM * way, 3.0 * spread)
    return None if too_high or too_low else task


def _pays_otherwise(facts: RunFacts, task: Task) -> bool:
    """Whether a task that pays 1 or -1 for each step pays another amount here: a wrapper rescales its reward."""
    returns = facts.run.returns
    if returns is None or task.random_mean is None or not task.random_length:
        return False
    pay = task.random_mean / task.random_length
    if abs(abs(pay) - 1.0) > SAME_PAY:
        return False
    length = "episode_length/eval" if "eval" in returns.name else "episode_length"
    earned, lasted = facts.level(returns.name), facts.level(length)
    if earned is None or lasted is None or lasted.value <= 0:
        return False
    return abs(abs(earned.value / lasted.value) - 1.0) > SAME_PAY


@fact
def reference_steps(facts: RunFacts) -> float | None:
    """Env steps that published runs needed for the task: of the same algorithm, else of the slowest one."""
    task = known_task(facts)
    if task is None or not task.steps_to_target:
        return None
    own = task.steps_to_target.get(facts.run.algorithm.upper())
    return own if own is not None else max(task.steps_to_target.values())


def had_time(facts: RunFacts) -> bool:
    """Whether the run went on for long enough that the lack of a result means something."""
    unfinished = facts.run.status.state in {Status.INTERRUPTED, Status.RUNNING}
    if unfinished and facts.progress is not None and facts.progress < MATERIAL:
        return False
    needed, taken = reference_steps(facts), facts.run.env_steps
    return needed is None or taken is None or taken >= MATERIAL * needed


def lags_behind(facts: RunFacts) -> bool:
    """Whether a run that had its time made next to nothing of the way to a known goal, rising or not."""
    goal, outcome, needed = goal_of(facts), facts.outcome, reference_steps(facts)
    if goal is None or outcome is None or needed is None or not had_time(facts):
        return False
    reach = reach_of(facts, goal)
    return (reach is None or not reach.held) and goal.share(outcome.end) < BEHIND


def reach_of(facts: RunFacts, goal: Goal) -> Reach | None:
    """The series that reached the goal: one that holds it first, the training return before the evaluation."""
    found = [
        reach
        for name in ("return/train", "return/eval")
        if (series := facts.series(name)) is not None and not series.caveat
        if (reach := _reach(series, goal)) is not None
    ]
    if not found and (returns := facts.run.returns) is not None and returns.caveat:
        alone = _reach(returns, goal)
        found = [alone] if alone is not None else []
    if tried_short(facts, goal):
        found = [replace(reach, held=False) for reach in found]
    return next((reach for reach in found if reach.held), found[0] if found else None)


def tried_short(facts: RunFacts, goal: Goal) -> bool:
    """Whether none of the last evaluations comes to the goal, and their mean not near, whatever exploring ones get."""
    series = facts.series("return/eval")
    values = series.values[np.isfinite(series.values)] if series is not None and not series.caveat else np.zeros(0)
    last = values[-max(FEWEST_TRIED, round(TRIED * values.size)) :]
    if last.size < FEWEST_TRIED or float(last.max()) >= goal.level:
        return False
    error = float(last.std(ddof=1)) / math.sqrt(last.size)
    return float(last.mean()) + error < goal.level - SHORT * abs(goal.level - goal.base)


def _reach(series: Series, goal: Goal) -> Reach | None:
    finite = np.isfinite(series.values)
    values, steps = series.values[finite], series.steps[finite]
    if values.size < FEWEST_ABOVE:
        return None
    bins = min(BINS, values.size)
    curve = np.array([float(part.mean()) for part in np.array_split(values, bins)])
    at = np.array([float(part[-1]) for part in np.array_split(steps, bins)])
    level = goal.level - TOLERANCE * abs(goal.level - goal.base)
    trailing: FloatArray = np.convolve(curve, np.ones(FEWEST_ABOVE) / FEWEST_ABOVE, mode="valid")
    above = np.flatnonzero(trailing >= level)
    if not above.size:
        return None
    last = max(FEWEST_ABOVE, round(END_SHARE * bins))
    end = float(np.median(curve[-last:]))
    return Reach(series, float(at[int(above[0]) + FEWEST_ABOVE - 1]), end >= level, end)
