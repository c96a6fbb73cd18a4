"""Whether a run failed to learn although it had the time to, or ended its budget without being done.

A setting, or an odd metric, is no fault by itself. Rules that judge those ask here for the symptom first.
"""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.facts.goal import goal_of, had_time, known_task, lags_behind
from rlclinic.facts.offline import is_offline
from rlclinic.facts.outcome import Outcome, outcome_of
from rlclinic.facts.return_state import USED_UP, has_fallen, missed_goal, reached_goal, stuck_short, suffers
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.saturation import saturation
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.run import Status

# Points of a return below which its course says nothing.
FEWEST_POINTS = 10
# Share of the way from the start to the goal below which a rise is hardly one.
SMALL_PART = 0.15
# The same for a rise that still goes on: below it a late rise is as likely noise.
TINY_PART = 0.03
# Share of the way from which on a run has learned, however noisy its return is.
GOOD_PART = 0.25
# Factor by which a gain must grow, or a cost shrink, within a whole budget.
HARDLY_MOVED = 2.0
FEWEST_EVALUATIONS = 6
# Budgets beyond the first after which the goal is out of reach at the present pace.
SEVERAL_BUDGETS = 3.0


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands against what it was meant to reach, whatever its verdict says of its course."""

    done: bool = False
    """It reached its goal, or the highest return there is, and stayed there."""
    behind: bool = False
    """Far behind others of its task, or at a standstill far below its goal: it does badly."""
    missed: bool = False
    """Its whole budget is used and a known goal was clearly missed."""
    tried: bool = False
    """So it was by evaluations alone: the training return came to the goal."""
    short: bool = False
    """So it was, or it ended clearly below the goal that its user told, and was never there."""
    slow: bool = False
    """So it was, and at the pace of its last third that goal is several budgets away."""
    open_end: bool = False
    """Its budget is used up and nothing says that it is done."""
    crept: bool = False
    """So it is, and its return hardly moved within that budget."""


def standing_of(facts: RunFacts, verdict: Verdict) -> Standing:
    """How the run stands."""
    stuck = verdict is Verdict.PLATEAUED and stuck_short(facts)
    return Standing(
        done=verdict is Verdict.SOLVED,
        behind=lags_behind(facts) or stuck,
        missed=missed_goal(facts),
        tried=missed_goal(facts) and _trained_to_goal(facts),
        short=fell_short(facts),
        open_end=is_open(facts),
        crept=crept(facts),
        slow=_is_slow(facts),
    )


def failed(facts: RunFacts) -> bool:
    """Whether the run did not learn, or lost most of what it had learned. False where that cannot be said."""
    outcome = facts.outcome
    if outcome is None or outcome.points < FEWEST_POINTS or reached_goal(facts):
        return False
    if _below_random(facts) or missed_goal(facts):
        return True
    if not had_time(facts) or saturation(facts) is not None:
        return False
    # The first evaluation of offline training may already be as good as the data allow.
    if is_offline(facts) and goal_of(facts) is None:
        return has_fallen(facts)
    return has_fallen(facts) or _hardly_rose(facts) or (suffers(facts) and not _well_on_its_way(facts))


def sank(facts: RunFacts) -> bool:
    """Whether the return lost a good part of its climb, or fell clearly below its start."""
    outcome = facts.outcome
    return outcome is not None and outcome.points >= FEWEST_POINTS and has_fallen(facts)


@fact
def is_open(facts: RunFacts) -> bool:
    """Whether the budget is used up and nothing says that the task is done: no goal reached, no highest return."""
    outcome, progress, state = facts.outcome, facts.progress, facts.run.status.state
    if outcome is None or reached_goal(facts) or saturation(facts) is not None:
        return False
    return progress >= USED_UP if progress is not None else state is Status.FINISHED


def _trained_to_goal(facts: RunFacts) -> bool:
    goal, outcome = goal_of(facts), facts.outcome
    return goal is not None and outcome is not None and outcome.end >= goal.level


def fell_short(facts: RunFacts) -> bool:
    """Whether the whole budget did not do: a known goal was missed, or the one that the user told.

    Who tells a goal says that less is not enough, so there even a small distance counts, if it is more than noise.
    """
    goal, curves = goal_of(facts), [facts.outcome, outcome_of(facts.series("return/eval"))]
    if missed_goal(facts) or goal is None or goal.source != "user" or not is_open(facts):
        return missed_goal(facts)
    known = [curve for curve in curves if curve is not None and curve.points >= FEWEST_EVALUATIONS]
    below = all(curve.end + curve.scale < goal.level for curve in known)
    return bool(known) and below and known[0].peak < goal.level


def crept(facts: RunFacts) -> bool:
    """Whether the return of such a run, in training or in evaluation, hardly moved within its budget."""
    curves = [facts.outcome, outcome_of(facts.series("return/eval"))]
    return is_open(facts) and any(
        curve is not None and curve.points >= FEWEST_EVALUATIONS and _hardly_moved(curve) for curve in curves
    )


def _hardly_moved(curve: Outcome) -> bool:
    """Neither a gain nor a cost changed by a factor."""
    if curve.start >= 0.0:
        return curve.end < HARDLY_MOVED * curve.start
    return curve.end < curve.start / HARDLY_MOVED


def _hardly_rose(facts: RunFacts) -> bool:
    goal, outcome = goal_of(facts), facts.outcome
    if goal is None or outcome is None or goal.level <= outcome.start:
        return False
    part = TINY_PART if outcome.still_rising else SMALL_PART
    return outcome.gain < part * (goal.level - outcome.start)


def _well_on_its_way(facts: RunFacts) -> bool:
    goal, outcome = goal_of(facts), facts.outcome
    if goal is None or outcome is None or goal.level <= outcome.start:
        return False
    return outcome.gain >= GOOD_PART * (goal.level - outcome.start)


def _is_slow(facts: RunFacts) -> bool:
    goal, outcome = goal_of(facts), facts.outcome
    if goal is None or outcome is None or not missed_goal(facts):
        return False
    # The slope is the change over a third of the run.
    return goal.level - outcome.end > SEVERAL_BUDGETS * 3.0 * max(outcome.late_slope, 0.0)


def _below_random(facts: RunFacts) -> bool:
    """Ended clearly below what random actions get: no run needs more time to show this."""
    task, outcome = known_task(facts), facts.outcome
    if task is None or outcome is None or task.random_mean is None:
        return False
    return outcome.end < task.random_mean - (task.random_std or 0.0)
