"""Whether the return gives a reason to look for a fault: flat since the start, or fallen from its best.

Rules about the trainer ask this before they alarm: an odd number beside a return that does well is a note at most.
"""

from __future__ import annotations

from rlclinic.facts.course import Course, course_of
from rlclinic.facts.goal import Goal, goal_of, reach_of, reference_steps, tried_short
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.model.run import Status

# Share of the way from a random policy to the goal below which nothing was learned.
NO_WAY = 0.04
# Share of its climb that a return must lose before it counts as fallen.
LOST = 0.4
# Scales of the return (see Outcome.scale) that a fall must measure as well.
MATERIAL = 4.0
# Share of the way from a random policy to the goal that a return must have made to be near it.
NEAR_GOAL = 0.5
# The same above which a return that ended short of the goal may be one with bad luck at the end.
CLOSE_TO_GOAL = 0.9
FAR_FROM_GOAL = 0.25
FEWEST_POINTS = 5
# Share of the budget from which on it is used up.
USED_UP = 0.95


@fact
def reached_goal(facts: RunFacts) -> bool:
    """Whether the return came to the level that counts as solved, and ended there."""
    goal, outcome = goal_of(facts), facts.outcome
    if goal is None or outcome is None:
        return False
    reach = reach_of(facts, goal)
    return (outcome.end >= goal.level and not tried_short(facts, goal)) or (reach is not None and reach.held)


@fact
def is_flat(facts: RunFacts) -> bool:
    """Whether the return is no better at the end than at the start, and not about to be."""
    course = course_of(facts)
    if course is None or reached_goal(facts) or course.rising:
        return False
    gained = course.outcome.improved and course.surely_gained
    return not gained or _still_random(goal_of(facts), course)


@fact
def has_fallen(facts: RunFacts) -> bool:
    """Whether a material part of the climb was lost again, or the run ended clearly below its start."""
    outcome = facts.outcome
    if outcome is None or reached_goal(facts):
        return False
    if outcome.gain < -MATERIAL * outcome.scale:
        return True
    return outcome.drop > MATERIAL * outcome.scale and outcome.drop > LOST * outcome.climb


def stuck_short(facts: RunFacts) -> bool:
    """Whether the return stands still with less than half of the way to a known goal behind it."""
    goal, course = goal_of(facts), course_of(facts)
    if goal is None or course is None or not course.enough or course.rising or reached_goal(facts):
        return False
    return goal.share(course.end) < NEAR_GOAL


@fact
def missed_goal(facts: RunFacts) -> bool:
    """Whether the whole budget is used and a known goal, with time enough for it, was clearly missed.

    A mean over the last training episodes lags behind the policy: without an evaluation above it, one that rises, or
    that nothing is held against, must be far from the goal.
    """
    goal, course, state = goal_of(facts), course_of(facts), facts.run.status.state
    if goal is None or course is None or course.outcome.points < FEWEST_POINTS or reached_goal(facts):
        return False
    used = facts.progress >= USED_UP if facts.progress is not None else state is Status.FINISHED
    needed, taken = reference_steps(facts), facts.run.env_steps
    in_time = goal.is_own or (needed is not None and taken is not None and taken >= needed)
    if used and in_time and tried_short(facts, goal):
        return True
    trained, evaluated = max(course.end, course.outcome.end), facts.late("return/eval")
    if evaluated is not None and evaluated.value >= trained:
        return used and in_time and goal.share(evaluated.value) < CLOSE_TO_GOAL
    lags = evaluated is None or course.rising
    return used and in_time and goal.share(trained) < (FAR_FROM_GOAL if lags else CLOSE_TO_GOAL)


def suffers(facts: RunFacts) -> bool:
    """Whether the return is flat, has fallen or ended short of its goal; False where there is none."""
    return is_flat(facts) or has_fallen(facts) or missed_goal(facts)


def return_name(facts: RunFacts) -> str:
    """The canonical name of the return that is judged, for evidence."""
    series = facts.run.returns
    return series.name if series is not None else "return/train"


def ended_below_start(facts: RunFacts) -> bool:
    """Whether the run ended materially below where it began."""
    outcome = facts.outcome
    return outcome is not None and outcome.gain < -2.0 * outcome.scale and not reached_goal(facts)


def _still_random(goal: Goal | None, course: Course) -> bool:
    """Whether a run that began as the random policy of its task also ended as one."""
    if goal is None or goal.task is None or goal.task.random_mean is None:
        return False
    spread = goal.task.random_std or 0.0
    began_random = abs(course.outcome.start - goal.task.random_mean) <= max(
        spread, NO_WAY * abs(goal.level - goal.base)
    )
    return began_random and goal.share(course.end) < NO_WAY
