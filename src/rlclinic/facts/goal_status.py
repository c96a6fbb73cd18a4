"""Whether a run failed to learn although it had the time to, or ended its budget without being done.

A setting, or an odd metric, is no fault by itself. Rules that judge those ask here for the symptom first.
"""

from __future__ import annotations

from rlclinic.facts.goal import goal_of, had_time, is_due, known_task, lags_behind
from rlclinic.facts.offline import is_offline
from rlclinic.facts.return_state import USED_UP, does_well, has_fallen, missed_goal, reached_goal, stuck_short, suffers
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.saturation import saturation
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.return_curve import ReturnCurve
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
class GoalStatus:
    """How a run stands against what it was meant to reach, whatever its verdict says of its course."""

    done: bool = False
    """It reached its goal, or the highest return there is, and stayed there."""
    behind: bool = False
    """Far behind others of its task, or at a standstill far below its goal: it does badly."""
    missed: bool = False
    """Its whole budget is used and a known goal was clearly missed."""
    reached_in_training_only: bool = False
    """So it was by evaluations alone: the training return came to the goal."""
    fell_short: bool = False
    """So it was, or it ended clearly below a known goal, and was never there."""
    slow: bool = False
    """So it was, and at the pace of its last third that goal is several budgets away."""
    budget_used: bool = False
    """Its budget is used up and nothing says that it is done."""
    barely_moved: bool = False
    """So it is, and its return hardly moved within that budget."""


def goal_status_of(facts: RunFacts, verdict: Verdict) -> GoalStatus:
    """How the run stands."""
    stuck = verdict is Verdict.PLATEAUED and stuck_short(facts)
    return GoalStatus(
        done=verdict is Verdict.SOLVED,
        behind=lags_behind(facts) or stuck,
        missed=missed_goal(facts),
        reached_in_training_only=missed_goal(facts) and _trained_to_goal(facts),
        fell_short=fell_short(facts),
        budget_used=is_open(facts),
        barely_moved=barely_moved(facts),
        slow=_is_slow(facts),
    )


def failed(facts: RunFacts) -> bool:
    """Whether the run did not learn, or lost most of what it had learned. False where that cannot be said."""
    curve = facts.curve
    if curve is None or curve.points < FEWEST_POINTS or reached_goal(facts):
        return False
    if _below_random(facts) or missed_goal(facts):
        return True
    if not had_time(facts) or saturation(facts) is not None:
        return False
    # The first evaluation of offline training may already be as good as the data allow.
    if is_offline(facts) and goal_of(facts) is None:
        return has_fallen(facts)
    return has_fallen(facts) or _hardly_rose(facts) or (suffers(facts) and not _well_on_its_way(facts))


def learns(facts: RunFacts) -> bool:
    """Whether the return rose, was not lost again and made a material part of its way: what is odd does no harm."""
    return does_well(facts) and not failed(facts)


def sank(facts: RunFacts) -> bool:
    """Whether the return lost a good part of its climb, or fell clearly below its start."""
    curve = facts.curve
    return curve is not None and curve.points >= FEWEST_POINTS and has_fallen(facts)


@fact
def is_open(facts: RunFacts) -> bool:
    """Whether the budget is used up and nothing says that the task is done: no goal reached, no highest return."""
    curve, progress, state = facts.curve, facts.progress, facts.run.status.state
    if curve is None or reached_goal(facts) or saturation(facts) is not None:
        return False
    return progress >= USED_UP if progress is not None else state is Status.FINISHED


def _trained_to_goal(facts: RunFacts) -> bool:
    goal, curve = goal_of(facts), facts.curve
    return goal is not None and curve is not None and curve.final >= goal.level


def fell_short(facts: RunFacts) -> bool:
    """Whether the whole budget did not do: a known goal was missed, whoever names it.

    A goal says that less is not enough, so even a small distance counts, if it is more than noise. That of a task in
    general is held against runs that had the steps which published ones needed. A mean over past episodes that still
    rises lags behind the policy: alone it says nothing, nor does any rising return about the goal of a task in general.
    """
    goal, curves = goal_of(facts), [facts.curve, facts.curve_of("return/eval")]
    if missed_goal(facts) or goal is None or not is_due(facts, goal) or not is_open(facts):
        return missed_goal(facts)
    lags = facts.window is not None or not goal.is_own
    if lags and curves[1] is None and curves[0] is not None and curves[0].rising:
        return False
    known = [curve for curve in curves if curve is not None and curve.points >= FEWEST_EVALUATIONS]
    below = all(curve.final + curve.scatter < goal.level for curve in known)
    return bool(known) and below and known[0].best < goal.level


def barely_moved(facts: RunFacts) -> bool:
    """Whether the return of such a run, in training or in evaluation, hardly moved within its budget."""
    curves = [facts.curve, facts.curve_of("return/eval")]
    return is_open(facts) and any(
        curve is not None and curve.points >= FEWEST_EVALUATIONS and _hardly_moved(curve) for curve in curves
    )


def _hardly_moved(curve: ReturnCurve) -> bool:
    """Neither a gain nor a cost changed by a factor."""
    if curve.start >= 0.0:
        return curve.final < HARDLY_MOVED * curve.start
    return curve.final < curve.start / HARDLY_MOVED


def _hardly_rose(facts: RunFacts) -> bool:
    goal, curve = goal_of(facts), facts.curve
    if goal is None or curve is None or goal.level <= curve.start:
        return False
    part = TINY_PART if curve.still_rising else SMALL_PART
    return curve.gain < part * (goal.level - curve.start)


def _well_on_its_way(facts: RunFacts) -> bool:
    goal, curve = goal_of(facts), facts.curve
    if goal is None or curve is None or goal.level <= curve.start:
        return False
    return curve.gain >= GOOD_PART * (goal.level - curve.start)


def _is_slow(facts: RunFacts) -> bool:
    goal, curve = goal_of(facts), facts.curve
    if goal is None or curve is None or not missed_goal(facts):
        return False
    # The slope is the change over a third of the run.
    return goal.level - curve.final > SEVERAL_BUDGETS * 3.0 * max(curve.late_rise, 0.0)


def _below_random(facts: RunFacts) -> bool:
    """Ended clearly below what random actions get: no run needs more time to show this."""
    task, curve = known_task(facts), facts.curve
    if task is None or curve is None or task.random_mean is None:
        return False
    return curve.final < task.random_mean - (task.random_std or 0.0)
