"""Whether the return gives a reason to look for a fault: flat since the start, or fallen from its best.

Rules about the trainer ask this before they alarm: an odd number beside a return that does well is a note at most.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal import goal_of, goal_reached, is_due, known_task, tried_short
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import Status
from rlclinic.model.series import Series

# Share of the way from a random policy to the goal below which nothing was learned.
NO_WAY = 0.04
# Share of its climb that a return must lose before it counts as fallen.
LOST = 0.4
# Scatters of the return that a fall must measure as well.
MATERIAL = 4.0
# Share of the way from a random policy to the goal that a return must have made to be near it.
NEAR_GOAL = 0.5
# The same above which a return that ended short of the goal may be one with bad luck at the end.
CLOSE_TO_GOAL = 0.9
FAR_FROM_GOAL = 0.25
FEWEST_POINTS = 5
# Share of the budget from which on it is used up.
USED_UP = 0.95
# Rewards of single steps, as logs call them.
OF_STEPS = frozenset({"reward", "mean reward", "step_reward"})
# Points at the end that are enough to say that a series stays as it is.
LASTING = 3
TENTHS = 10
# Points from which on some are told from single ones, the share that is some, and how much more these are.
MANY_POINTS, FEW_OF, TIMES, AROUND = 30, 0.05, 50.0, 5


@fact
def reached_goal(facts: RunFacts) -> bool:
    """Whether the return came to the level that counts as solved, and ended there."""
    goal, curve = goal_of(facts), facts.curve
    if goal is None or curve is None:
        return False
    reached = goal_reached(facts)
    return (curve.final >= goal.level and not tried_short(facts, goal)) or (reached is not None and reached.held)


@fact
def is_flat(facts: RunFacts) -> bool:
    """Whether the return is no better at the end than at the start, and not about to be."""
    curve = facts.curve
    if curve is None or reached_goal(facts) or curve.rising:
        return False
    gained = curve.improved and curve.surely_gained
    return not gained or _still_random(facts, curve)


@fact
def has_fallen(facts: RunFacts) -> bool:
    """Whether a material part of the climb was lost again, or the run ended clearly below its start."""
    curve = facts.curve
    if curve is None or reached_goal(facts):
        return False
    if curve.gain < -MATERIAL * curve.scatter:
        return True
    return curve.drop > MATERIAL * curve.scatter and curve.drop > LOST * curve.climb


def stuck_short(facts: RunFacts) -> bool:
    """Whether the return stands still with less than half of the way to a known goal behind it."""
    goal, curve = goal_of(facts), facts.curve
    if goal is None or curve is None or not curve.enough or curve.rising or reached_goal(facts):
        return False
    return goal.share(curve.final) < NEAR_GOAL


@fact
def missed_goal(facts: RunFacts) -> bool:
    """Whether the whole budget is used and a known goal, with time enough for it, was clearly missed.

    A mean over the last training episodes lags behind the policy: without an evaluation above it, one that rises, or
    that nothing is held against, must be far from the goal.
    """
    goal, curve, state = goal_of(facts), facts.curve, facts.run.status.state
    if goal is None or curve is None or curve.points < FEWEST_POINTS or reached_goal(facts):
        return False
    used = facts.progress >= USED_UP if facts.progress is not None else state is Status.FINISHED
    in_time = is_due(facts, goal)
    if used and in_time and tried_short(facts, goal):
        return True
    trained, evaluated = curve.final, facts.late("return/eval")
    if evaluated is not None and evaluated.value >= trained:
        return used and in_time and goal.share(evaluated.value) < CLOSE_TO_GOAL
    lags = evaluated is None or curve.rising
    return used and in_time and goal.share(trained) < (FAR_FROM_GOAL if lags else CLOSE_TO_GOAL)


@fact
def constant_at_its_worst(facts: RunFacts) -> bool:
    """Whether every return is one number: zero, or a cost of which the longest episodes pay the most.

    Without lengths a round cost is that of every step of an episode that the time limit ended.
    """
    returns, lengths = facts.run.returns, facts.series("episode_length") or facts.series("episode_length/eval")
    values = returns.values[np.isfinite(returns.values)] if returns is not None else np.zeros(0)
    if values.size < FEWEST_POINTS or float(np.ptp(values)) > 0.0 or values[0] > 0.0:
        return False
    if values[0] == 0.0 or lengths is None:
        return bool(values[0] == np.round(values[0]))
    known = lengths.values[np.isfinite(lengths.values)]
    return known.size > 0 and float(np.ptp(known)) == 0.0


def does_well(facts: RunFacts) -> bool:
    """Whether the return rose and has not been lost again; False where there is none."""
    curve = facts.curve
    if curve is None or has_fallen(facts):
        return False
    return curve.still_rising or (curve.improved and curve.surely_gained)


def suffers(facts: RunFacts) -> bool:
    """Whether the return is flat, has fallen or ended short of its goal; False where there is none."""
    return is_flat(facts) or has_fallen(facts) or missed_goal(facts)


def return_name(facts: RunFacts) -> str:
    """The canonical name of the return that is judged, for evidence."""
    series = facts.run.returns
    return series.name if series is not None else "return/train"


def ended_below_start(facts: RunFacts) -> bool:
    """Whether the run ended materially below where it began."""
    curve = facts.curve
    return curve is not None and curve.gain < -2.0 * curve.scatter and not reached_goal(facts)


def _still_random(facts: RunFacts, curve: ReturnCurve) -> bool:
    """Whether a run that began as the random policy of its task also ended as one."""
    goal, task = goal_of(facts), known_task(facts)
    if goal is None or task is None or task.random_mean is None:
        return False
    spread = task.random_std or 0.0
    began_random = abs(curve.start - task.random_mean) <= max(spread, NO_WAY * abs(goal.level - goal.base))
    return began_random and goal.share(curve.final) < NO_WAY


def few_pay_all(facts: RunFacts) -> bool:
    """Whether some points of the return, neither single ones nor most, are many times what those around them are."""
    if facts.run.returns is None or len(facts.run.returns) < MANY_POINTS:
        return False
    sizes = np.abs(facts.run.returns.values)
    around = np.median(
        np.lib.stride_tricks.sliding_window_view(np.pad(sizes, AROUND, mode="reflect"), 2 * AROUND + 1), 1
    )
    usual = float(np.median(sizes))
    return usual > 0.0 and FEW_OF < float(np.mean(sizes > TIMES * np.maximum(around, usual))) < 1.0 / 3.0


@fact
def usual_rise(facts: RunFacts) -> tuple[float, float] | None:
    """What an ordinary point of the return was worth in the first tenth and in the last, where a few far below the
    others hide in the mean that it rose: the median of each later tenth is above all points of the first."""
    values = facts.returns.values if facts.returns is not None else np.array([])
    values = values[np.isfinite(values)]
    if values.size < TENTHS * FEWEST_POINTS:
        return None
    first, *rest = np.array_split(values, TENTHS)
    usual = [float(np.median(part)) for part in rest]
    return (float(np.median(first)), usual[-1]) if min(usual[1:]) > float(first.max()) else None


def became_undefined(facts: RunFacts, returns: Series) -> bool:
    """Whether a return that was a number at every point stopped being one for good, and not for want of ended
    episodes."""
    trailing, lengths = _trailing(returns), facts.series("episode_length")
    together = lengths is not None and np.array_equal(lengths.steps[-trailing:], returns.steps[-trailing:])
    if trailing and returns.window and lengths is not None and together:
        # What is known to be of episodes that ended, as their length tells, is no gap.
        return bool(np.isfinite(lengths.values[-trailing:]).all())
    # Another number of each step that is lost with it is no matter of ended episodes.
    steps = (item for name, item in facts.run.series.items() if name.casefold() in OF_STEPS)
    if not trailing or (trailing < LASTING and not any(map(_trailing, steps))):
        return False
    return lengths is None or bool(np.isfinite(lengths.values[-min(trailing, LASTING) :]).all())


def _trailing(series: Series) -> int:
    """Points that are no numbers at the end of a series without gaps before: with gaps, rows without an ended episode
    are ordinary."""
    good = np.flatnonzero(np.isfinite(series.values))
    if not good.size or good.size <= good[-1] - good[0]:
        return 0
    return int(len(series) - 1 - good[-1])
