"""What the run is meant to reach, what a random policy gets, and whether the goal was reached and held."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Literal

import numpy as np

from rlclinic.facts.episodes import single_returns, task_by_name
from rlclinic.facts.returns import END_SHARE
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.saturation import ceiling
from rlclinic.facts.task_departure import CHEAPER, SAME_PAY, departure, pays_one
from rlclinic.facts.trailing_mean import recent_returns
from rlclinic.model.goal import Goal, GoalReached
from rlclinic.model.numbers import plain_numbers
from rlclinic.model.run import Status
from rlclinic.model.series import FloatArray, Series
from rlclinic.reference.tasks import Task, least_steps
from rlclinic.signals._bins import bin_ends, bin_means
from rlclinic.signals._robust import median

# How far above the best published return a return may lie, in ranges from random to best, before it must be on
# another scale (a wrapper multiplies rewards).
ABOVE_BEST = 0.5
# The same below the random policy.
BELOW_RANDOM = 0.5
# Share of the way from random to goal by which the end may miss the goal and still hold it.
TOLERANCE = 0.02
# Points that must show the goal before it counts as reached: one lucky evaluation is none.
FEWEST_ABOVE = 3
# Share of the budget, or of the steps that published runs needed, before which nothing is expected of a run.
MATERIAL = 0.5
# Share of the way to the goal that a run with that much time behind it must have made not to lag behind.
BEHIND = 0.15
# The same before which it is too early even for a first rise.
EARLY_SHARE = 0.2
# A curve is judged by at most this many bins, so that single episodes average out.
BINS = 60
_EPISODES = re.compile(r"(\d{1,6}) episodes")
# Evaluations, and share of them, that say how the policy of the end does where it is tried.
FEWEST_TRIED, TRIED = 4, 0.5
# Share of the way to the goal by which their mean must fall short of it, beyond its standard error.
SHORT = 0.2
# Levels at the end that are pooled at the least to tell whether a goal is held, and the share of them that may miss it
# by as much.
FEWEST_POOLED, OFTEN = 5, 0.25
# Standard errors by which the mean of the levels at the end must be at the goal: a one-sided interval of 90%.
SURELY = 1.3
# Times the noise of their episodes by which evaluations of one policy may differ: seven of them do by more in one of
# twenty cases.
ONE_POLICY = 1.45
# Episodes after which the lack of a rise means something, however many steps others needed.
MANY_EPISODES = 2000


@fact
def goal_of(facts: RunFacts) -> Goal | None:
    """The goal, where the run or the table of tasks names one."""
    task, curve, off = known_task(facts), facts.curve, departure(facts)
    level = facts.run.threshold
    if level is None and task is not None:
        level = task.target if task.target is not None else task.threshold
    if level is None or curve is None:
        return None
    top = ceiling(facts)
    if facts.run.threshold is None and top is not None and top < level:
        return None
    base = curve.start
    if task is not None and task.random_mean is not None and task.random_mean < level:
        base = task.random_mean
    goal = Goal(level, _source(facts), base, _origin(facts, task, level))
    # Where episodes are cut short or drawn out, a goal that the untrained policy reaches is none, nor is one that an
    # episode is over before.
    if off is not None and off.pinned is not None:
        reached_untrained = curve.start >= level - TOLERANCE * _way(curve.values, goal)
        return None if reached_untrained or off.cut_before_goal else goal
    return goal


def _source(facts: RunFacts) -> Literal["user", "run", "task"]:
    if facts.run.threshold is None:
        return "task"
    return "user" if facts.run.threshold_is_told else "run"


def _origin(facts: RunFacts, task: Task | None, level: float) -> str:
    """Who says so, in words."""
    source = _source(facts)
    if source == "user":
        return "set with --goal"
    if source == "run" or task is None:
        return "the run's own threshold"
    off = departure(facts)
    times = f", scaled by {off.scale:.3g} like its rewards" if off is not None and off.scale is not None else ""
    return f"the {'threshold' if task.threshold == level else 'usual goal'} of {task.name}{plain_numbers(times)}"


@fact
def known_task(facts: RunFacts) -> Task | None:
    """The well-known task of the run, on the scale of the run's rewards; None where its returns are another thing."""
    task = task_by_name(facts)
    curve, off = facts.curve, departure(facts)
    if task is not None and off is not None and off.scale is not None:
        return task.scaled(off.scale)
    if task is not None and (_pays_otherwise(facts, task) or (off is not None and off.pays_otherwise)):
        return None
    if task is None or curve is None or task.random_mean is None or task.best_return is None:
        return task
    way = task.best_return - task.random_mean
    if way <= 0:
        return task
    too_high = curve.best > task.best_return + ABOVE_BEST * way
    spread = task.random_std or 0.0
    too_low = curve.best < task.random_mean - max(BELOW_RANDOM * way, 3.0 * spread)
    too_cheap = task.best_return < 0.0 and curve.best > CHEAPER * task.best_return
    return None if too_high or too_low or too_cheap else task


def _pays_otherwise(facts: RunFacts, task: Task) -> bool:
    """Whether a task that pays 1 or -1 for each step pays another amount here: a wrapper rescales its reward."""
    returns = facts.run.returns
    if returns is None or not pays_one(task):
        return False
    length = "episode_length/eval" if "eval" in returns.name else "episode_length"
    earned, lasted = _mean(facts.series(returns.name)), _mean(facts.series(length))
    return lasted > 0.0 and abs(abs(earned / lasted) - 1.0) > SAME_PAY


def _mean(series: Series | None) -> float:
    """What all points come to: the middle one of episodes that pay much or next to nothing is neither."""
    values = series.values[np.isfinite(series.values)] if series is not None else np.zeros(0)
    return float(values.mean()) if values.size else 0.0


@fact
def reference_steps(facts: RunFacts) -> float | None:
    """Env steps that published runs needed for the task: of the same algorithm, else of the slowest one; of the middle
    one where the algorithm is not known. Of a game without such runs what the easiest game needed.

    None of imitation: labels teach it, not steps.
    """
    task = None if facts.is_imitation else known_task(facts)
    if task is None or not task.steps_to_target:
        return least_steps(task.group) if task is not None and task.group == "atari" else None
    own, known = task.steps_to_target.get(facts.run.algorithm.upper()), sorted(task.steps_to_target.values())
    return own if own is not None else known[-1 if facts.run.algorithm else (len(known) - 1) // 2]


def is_due(facts: RunFacts, goal: Goal) -> bool:
    """Whether the goal may be expected: the run's own always, that of its task with the steps of published runs."""
    needed, taken = reference_steps(facts), facts.run.env_steps
    return goal.is_own or (needed is not None and taken is not None and taken >= needed)


def had_time(facts: RunFacts) -> bool:
    """Whether the run went on for long enough that the lack of a result means something."""
    unfinished = facts.run.status.state in {Status.INTERRUPTED, Status.RUNNING}
    if unfinished and facts.progress is not None and facts.progress < MATERIAL:
        return False
    needed, taken = reference_steps(facts), facts.run.env_steps
    if needed is None or taken is None or taken >= MATERIAL * needed:
        return True
    played = single_returns(facts)
    return played is not None and played.size >= MANY_EPISODES


def is_early(facts: RunFacts) -> bool:
    """Whether so little was trained that a flat return is normal."""
    progress = facts.progress
    if progress is not None and progress < EARLY_SHARE:
        return True
    task, steps = known_task(facts), facts.run.env_steps
    if task is None or steps is None:
        return False
    published = task.steps_to_target.get(facts.run.algorithm)
    return published is not None and steps < EARLY_SHARE * published


def lags_behind(facts: RunFacts) -> bool:
    """Whether a run that had its time made next to nothing of the way to a known goal, rising or not."""
    goal, curve, needed = goal_of(facts), facts.curve, reference_steps(facts)
    if goal is None or curve is None or needed is None or not had_time(facts):
        return False
    reached = goal_reached(facts)
    return (reached is None or not reached.held) and goal.share(curve.final) < BEHIND


@fact
def goal_reached(facts: RunFacts) -> GoalReached | None:
    """The series that reached the goal: one that holds it first, the training return before the evaluation.

    A mean over past episodes that lags behind counts by the episodes themselves, where nothing was evaluated.
    """
    goal, trained, evaluated = goal_of(facts), facts.series("return/train"), facts.series("return/eval")
    if goal is None:
        return None
    found = [
        reached
        for series in (trained, evaluated)
        if series is not None and not series.caveat
        if (reached := _reached(series, goal, spread_of_mean(facts, series))) is not None
    ]
    behind = recent_returns(facts) if evaluated is None else None
    alone = returns if (returns := facts.run.returns) is not None and returns.caveat else None
    for other in (behind, alone):
        # A goal that was reached and lost may have been held by these.
        if other is not None and not any(reached.held for reached in found):
            found += [reached] if (reached := _reached(other, goal)) is not None else []
    if tried_short(facts, goal):
        found = [replace(reached, held=False) for reached in found]
    return next((reached for reached in found if reached.held), found[0] if found else None)


@fact
def missing_share(facts: RunFacts) -> float | None:
    """The share of the way to the goal, from 0 to 1, that the return has still to go at the end; None without a goal.

    Where training came to the goal and evaluations did not, these count.
    """
    goal, curve, evaluated = goal_of(facts), facts.curve, facts.curve_of("return/eval")
    if goal is None or curve is None:
        return None
    final = curve.final if evaluated is None or curve.final < goal.level else min(curve.final, evaluated.final)
    return min(max(1.0 - goal.share(final), 0.0), 1.0)


def _pooled_error(between: float, within: FloatArray) -> float:
    """The noise of one evaluation: that of its episodes, pooled where evaluations differ by no more than these do."""
    of_episodes = math.sqrt(float(np.mean(within**2)))
    return of_episodes if between <= ONE_POLICY * of_episodes else between


def tried_short(facts: RunFacts, goal: Goal) -> bool:
    """Whether none of the last evaluations comes to the goal, and their mean not near, whatever exploring ones get."""
    series = facts.series("return/eval")
    values = series.values[np.isfinite(series.values)] if series is not None and not series.caveat else np.zeros(0)
    last = values[-max(FEWEST_TRIED, round(TRIED * values.size)) :]
    if last.size < FEWEST_TRIED or float(last.max()) >= goal.level:
        return False
    error = float(last.std(ddof=1)) / math.sqrt(last.size)
    return float(last.mean()) + error < goal.level - SHORT * _way(values, goal)


def _way(values: FloatArray, goal: Goal) -> float:
    """How far it was to the goal: from its base, where the run was anywhere near it.

    Random actions may fall off a cliff a hundred times as often as any run does, and a share of that is no tolerance.
    """
    seen = goal.level - float(values.min())
    return max(seen, min(abs(goal.level - goal.base), abs(goal.level))) if seen > 0.0 else abs(goal.level - goal.base)


def spread_of_mean(facts: RunFacts, series: Series) -> FloatArray | None:
    """The standard error of each evaluation, by the spread of its episodes and their number; None where either is
    not known."""
    told = _EPISODES.fullmatch(series.window)
    episodes = float(told[1]) if told is not None else facts.setting("eval_episodes")
    spread = facts.series("return/eval_std")
    if "eval" not in series.name or episodes is None or episodes < 2.0 or spread is None:
        return None
    if not np.array_equal(spread.steps, series.steps) or not np.isfinite(spread.values).all():
        return None
    return spread.values / math.sqrt(episodes - 1.0)


def _reached(series: Series, goal: Goal, errors: FloatArray | None = None) -> GoalReached | None:
    finite = np.isfinite(series.values)
    values, steps = series.values[finite], series.steps[finite]
    if values.size < FEWEST_ABOVE:
        return None
    bins = min(BINS, values.size)
    curve, at = bin_means(values, bins), bin_ends(steps, bins)
    way = _way(values, goal)
    level = goal.level - TOLERANCE * way
    trailing: FloatArray = np.convolve(curve, np.ones(FEWEST_ABOVE) / FEWEST_ABOVE, mode="valid")
    above = np.flatnonzero(trailing >= level)
    if not above.size:
        return None
    last = max(FEWEST_ABOVE, round(END_SHARE * bins))
    pool = curve[-max(FEWEST_POOLED, last) :]
    often_short = float(np.mean(pool < goal.level - SHORT * way)) > OFTEN
    # A level is the mean of so many evaluations.
    of_levels = np.sqrt(bin_means(errors[finite] ** 2, bins) * bins / values.size) if errors is not None else None
    # What came before the goal was first reached says nothing about holding it; and what holds more holds this.
    firsts = [index for index in above if not (trailing[:index] >= trailing[index]).any()]
    held = not often_short and any(
        _sure_level(pool[max(int(first) - curve.size, -pool.size) :], of_levels)
        >= max(level, float(trailing[:first].max(initial=-math.inf)))
        for first in firsts
    )
    return GoalReached(series, float(at[int(above[0]) + FEWEST_ABOVE - 1]), held, median(curve[-last:]))


def _sure_level(since: FloatArray, errors: FloatArray | None) -> float:
    """What the mean of these levels is at the least."""
    error = float(since.std(ddof=1))
    if errors is not None:
        error = _pooled_error(error, errors[-since.size :])
    return float(since.mean()) - SURELY * error / math.sqrt(since.size)
