"""One word for a run, and why: the first verdict of the list that applies.

The order is that of `Verdict`: what makes a judgement of learning pointless comes first (not a training, a dead
process, too little data, a config that could not learn), then success, then what was lost, then what never came.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rlclinic.facts.costs import longer_episodes_cost_more
from rlclinic.facts.evaluations import began_unseen, evaluations_surely_rose
from rlclinic.facts.goal import goal_of, goal_reached, had_time, known_task, reference_steps
from rlclinic.facts.return_state import became_undefined, constant_at_its_worst, missed_goal, usual_rise
from rlclinic.facts.returns import MATERIAL
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import saturation
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.goal import Goal, GoalReached
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import Status
from rlclinic.rules.registry import in_order, rules_meaning
from rlclinic.rules.rule import Sign
from rlclinic.rules.words import steps_text

# A finding that bounds how far the policy can have moved; where it is this sure, a rise of the return is chance.
SURELY_FROZEN = 0.9
# Share of its level that a rise must exceed where no goal says what it is worth.
LEAST_GAIN = 0.03
# Algorithms that train on examples, not on rewards.
SUPERVISED = frozenset({"SFT"})

# Points of the return below which nothing is said about its course.
FEWEST_POINTS = 6
# Points below which a return that has not moved is too little to judge, and the same in a run that came to its end.
FEW_POINTS, FEW_POINTS_OF_ALL = 20, 10
# Share of the budget from which on the end of the process does not matter.
NEARLY_ALL = 0.95
# Share of a fall that a climb before it must make up to be what was lost.
SLIGHT = 0.3
# Share of the budget from which on a sure rise says more than that the run was stopped.
GOOD_PART = 0.25
# Points from which on a run that was stopped is judged by its course where its budget is not known.
LONG_ENOUGH = 20
# Share of the way from random to the best published return that a task's registered threshold must stand for: that
# of HalfCheetah (4800 of 12,000) is a milestone, not the end. More of a run that passes it and still rises.
NEAR_BEST, NEARER_BEST = 0.75, 0.85


@dataclass(frozen=True)
class _Case:
    facts: RunFacts
    findings: Sequence[Finding]
    """The gravest and surest first."""
    curve: ReturnCurve | None
    goal: Goal | None
    reached: GoalReached | None

    def seen(self, *signs: Sign, least: Severity = Severity.WARNING) -> Finding | None:
        """The gravest and surest finding that means one of these, if it is at least this severe."""
        names = frozenset().union(*map(rules_meaning, signs))
        found = (finding for finding in self.findings if finding.name in names)
        return next((finding for finding in found if finding.severity.rank >= least.rank), None)


def verdict(facts: RunFacts, findings: Sequence[Finding]) -> tuple[Verdict, str]:
    """The verdict on a run and the reason for it, in one sentence with numbers."""
    goal = goal_of(facts)
    reached = goal_reached(facts)
    case = _Case(facts, in_order(findings), facts.curve, goal, reached)
    for word, judge in _JUDGES:
        reason = judge(case)
        if reason is not None:
            return word, reason
    return _otherwise(case)


def _faulty_environment(case: _Case) -> str | None:
    found = next((finding for finding in case.findings if finding.severity.rank > 0), None)
    return found.summary if case.facts.run.is_environment and found is not None else None


def _sound_environment(case: _Case) -> str | None:
    env = case.facts.run.examined
    if not case.facts.run.is_environment or env is None or env.reward is None:
        return None
    if env.reward.std == 0.0 and env.episodes is not None and env.episodes.distinct_returns == 1:
        return f"nothing is broken in {env.steps:,} steps, but all policies were paid the same: no difference was seen"
    alone = env.source == "examined" and env.policy("trained") is None
    played, open_ = (" of random and simple policies", "; a good one was not seen") if alone else ("", "")
    return f"nothing in {env.steps:,} steps{played} speaks against learning here{open_}"


def _not_rl(case: _Case) -> str | None:
    run = case.facts.run
    if run.returns is not None or not ("loss/supervised" in run or run.algorithm.upper() in SUPERVISED):
        return None
    return "a supervised loss is logged and no return: examples are learned, not rewards"


def _crashed(case: _Case) -> str | None:
    run, progress = case.facts.run, case.facts.progress
    if run.status.state is not Status.CRASHED:
        return None
    if _solved(case) is not None or (progress is not None and progress >= NEARLY_ALL):
        return None
    died = case.seen(Sign.OUT_OF_MEMORY) or case.seen(Sign.PROCESS_DIED)
    return died.summary if died is not None else f"the process died: {run.status.reason}"


def _insufficient(case: _Case) -> str | None:
    run, curve = case.facts.run, case.curve
    if run.is_environment:
        return "the environment could not be played for long enough to judge it"
    if curve is None:
        unknown = "training metrics are logged, but no return" if run.series else "no metric was logged"
        return f"{unknown}: whether the agent learned cannot be known"
    if _solved(case) is not None or case.seen(Sign.RETURN_STOPPED) is not None or _lost(case) is not None:
        return None
    worst = constant_at_its_worst(case.facts) and had_time(case.facts)
    if curve.points < FEWEST_POINTS and not worst and not (curve.whole.is_sure and curve.rose):
        count = "a single point" if curve.points == 1 else f"only {curve.points} points"
        return f"{count} of the return, up to {steps_text(case.facts, curve.steps[-1])}"
    if (
        case.seen(Sign.NOT_LEARNING, Sign.COLLAPSED, Sign.UNSTABLE) is not None
        or _was_stopped(case)
        or _misconfigured(case)
    ):
        return None
    if curve.enough and missed_goal(case.facts):
        return None
    if _frozen(case) is not None:
        return None
    constant = case.seen(Sign.CONSTANT, least=Severity.INFO)
    if worst:
        return None
    if constant is not None and had_time(case.facts) and goal_of(case.facts) is None:
        return constant.summary + ", which shows neither success nor failure"
    if curve.rose:
        return None
    least = FEW_POINTS_OF_ALL if run.status.state is Status.FINISHED else FEW_POINTS
    if (curve.points >= least or curve.cannot_have_risen) and had_time(case.facts):
        return None
    return _too_short(case.facts, curve)


def _too_short(facts: RunFacts, curve: ReturnCurve) -> str:
    went = f"the return went from {curve.start:.4g} to {curve.final:.4g}"
    needed, taken = reference_steps(facts), facts.run.env_steps
    if needed is not None and taken is not None and taken < needed:
        return f"{went} in {taken:,.0f} env steps; published runs needed {needed:,.0f}: too short to judge"
    return f"{went} over {curve.points} points (noise {curve.noise:.2g}): too few to judge"


def _misconfigured(case: _Case) -> str | None:
    found = case.seen(Sign.MISCONFIGURED, least=Severity.ERROR)
    # A config that could not learn did not: a sure rise refutes it.
    if found is None or (case.curve is not None and (case.curve.climbed or case.curve.whole.is_sure)):
        return None
    return found.summary


def _reward_hacking(case: _Case) -> str | None:
    found = case.seen(Sign.REWARD_HACKING)
    if found is None and case.curve is not None and case.curve.improved:
        found = case.seen(Sign.ENDING_PAYS)
    return found.summary if found is not None else None


def _solved(case: _Case) -> str | None:
    # What reached the goal in training fails where it is tried: one of the two is not the policy that counts.
    if case.seen(Sign.EVALUATION_DIFFERS) is not None:
        return None
    if case.goal is None:
        return saturation(case.facts)
    reached = case.reached
    if reached is None or not reached.held or not _near_best(case.facts, case.goal, reached):
        return _stopped_at_goal(case)
    when = steps_text(case.facts, reached.step)
    return (
        f"{reached.series.logged_as} reached {case.goal.level:.4g} ({case.goal.origin}) at {when} "
        f"and ended at {reached.final:.4g}"
    )


def _stopped_at_goal(case: _Case) -> str | None:
    """A run that ended by itself with budget left, at an evaluation that reached its own threshold.

    The mean over training episodes lags behind by a hundred episodes and cannot show it.
    """
    run, goal, progress = case.facts.run, case.goal, case.facts.progress
    evaluated = run.series.get("return/eval")
    if goal is None or not goal.is_own or evaluated is None or run.status.state is not Status.FINISHED:
        return None
    last = evaluated.last
    if case.seen(Sign.COLLAPSED, Sign.UNSTABLE) is not None:
        return None
    if progress is None or progress >= NEARLY_ALL or last is None or last < goal.level:
        return None
    return f"{evaluated.logged_as} reached {last:.4g} of {goal.level:.4g} ({goal.origin}), and the run stopped there"


def _near_best(facts: RunFacts, goal: Goal, reached: GoalReached) -> bool:
    task = known_task(facts)
    if goal.is_own or task is None or task.best_return is None or task.random_mean is None:
        return True
    way = task.best_return - task.random_mean
    if way <= 0:
        return True
    goes_on = goal.level - task.random_mean < NEAR_BEST * way and facts.curve is not None and facts.curve.rising
    return (reached.final - task.random_mean) / way >= (NEARER_BEST if goes_on else NEAR_BEST)


def _collapsed(case: _Case) -> str | None:
    found = (None if _only_declined(case) else case.seen(Sign.COLLAPSED)) or case.seen(Sign.RETURN_STOPPED)
    return found.summary if found is not None else None


def _lost(case: _Case) -> str | None:
    """That the return stopped being a number, if it did."""
    returns, curve = case.facts.run.returns, case.curve
    if returns is None or curve is None or not became_undefined(case.facts, returns):
        return None
    return f"{returns.logged_as} is not a number after {steps_text(case.facts, curve.steps[-1])}"


def _unstable(case: _Case) -> str | None:
    lost = _lost(case)
    if lost is not None:
        return lost
    found = case.seen(Sign.UNSTABLE)
    # What cannot have moved has not swung, and what began as a random policy and went down had nothing to lose.
    return found.summary if found is not None and _frozen(case) is None and not _only_declined(case) else None


def _only_declined(case: _Case) -> bool:
    curve, task = case.curve, known_task(case.facts)
    if curve is None or not curve.fell_below_start or task is None or task.random_mean is None:
        return False
    # Of a fall that is mostly below the start the climb before it is no matter.
    if curve.climbed and curve.climb > SLIGHT * curve.drop:
        return False
    return curve.start <= task.random_mean + (task.random_std or 0.0)


def _not_learning(case: _Case) -> str | None:
    found = case.seen(Sign.NOT_LEARNING) or (case.seen(Sign.COLLAPSED, Sign.UNSTABLE) if _only_declined(case) else None)
    found = found if found is not None else _frozen(case)
    return found.summary if found is not None else None


def _frozen(case: _Case) -> Finding | None:
    """What shows that the policy cannot have moved, if that is sure."""
    found, curve = case.seen(Sign.POLICY_FROZEN), case.curve
    if curve is not None and curve.climbed and curve.rising and not _ended_random(case, curve):
        # Nothing overrules a sure rise of the return, unless it leads to what random actions get.
        return None
    return found if found is not None and found.confidence >= SURELY_FROZEN else None


def _ended_random(case: _Case, curve: ReturnCurve) -> bool:
    task = known_task(case.facts)
    return (
        task is not None and task.random_mean is not None and curve.final < task.random_mean + (task.random_std or 0.0)
    )


def _interrupted(case: _Case) -> str | None:
    progress, curve = case.facts.progress, case.curve
    # What surely learned over a good part of its budget can be judged.
    learned = curve is not None and progress is not None and progress >= GOOD_PART and _learned(case, curve)
    if learned or not _was_stopped(case):
        return None
    return f"{case.facts.run.status.reason}; too early to judge the rest"


def _was_stopped(case: _Case) -> bool:
    """Whether the run was stopped with a material part of its budget, or of any likely budget, left."""
    if case.facts.run.status.state is not Status.INTERRUPTED:
        return False
    progress = case.facts.progress
    if progress is not None:
        return progress < NEARLY_ALL
    return case.curve is None or case.curve.points < LONG_ENOUGH


def _plateaued(case: _Case) -> str | None:
    curve, returns = case.curve, case.facts.run.returns
    if curve is None or returns is None or curve.rising or curve.rises_in_the_end:
        return None
    flat = case.seen(Sign.PLATEAU, least=Severity.INFO)
    if flat is not None:
        return flat.summary
    if not curve.enough or not had_time(case.facts) or curve.leans_up:
        return None
    # Without a climb there is nothing to have levelled off.
    if not curve.rose and not began_unseen(case.facts):
        return None
    late = f"{'rose' if curve.late_rise > 0.0 else 'fell'} by {abs(curve.late_rise):.3g}"
    late = late if abs(curve.late_rise) > curve.noise else "did not move beyond its noise"
    return f"{returns.logged_as} went from {curve.start:.4g} to {curve.final:.4g} and {late} over the last third"


def _otherwise(case: _Case) -> tuple[Verdict, str]:
    """Nothing was lost, and nothing stands still: a rise, if it is one."""
    curve, returns = case.curve, case.facts.run.returns
    if curve is None or returns is None:
        return Verdict.INSUFFICIENT_DATA, "no return was logged: whether the agent learned cannot be known"
    if _learned(case, curve):
        return Verdict.LEARNING, _rise(case)
    usual = None if curve.climbed else usual_rise(case.facts)
    if usual is not None:
        return Verdict.UNSTABLE, (
            f"the median of {returns.logged_as} was {usual[0]:.4g} in the first tenth of the run and {usual[1]:.4g} in "
            f"the last, but a few points far below, down to {np.nanmin(returns.values):.4g}, keep its mean at "
            f"{curve.final:.4g}"
        )
    went = f"{returns.logged_as} went from {curve.start:.4g} to {curve.final:.4g} over {curve.points} points"
    tried = _by_evaluations(case, went)
    if tried is not None:
        return tried
    if curve.came_back:
        return Verdict.UNSTABLE, f"{went}, after a low of {curve.values.min():.4g}: it recovered, but got no further"
    if curve.begins_to_rise or curve.rose:
        return Verdict.INSUFFICIENT_DATA, f"{went}: any rise is within the noise"
    if constant_at_its_worst(case.facts) and had_time(case.facts):
        return Verdict.NOT_LEARNING, f"{returns.logged_as} is {curve.final:.4g} at all {curve.points} points"
    few = curve.points < FEW_POINTS and not curve.cannot_have_risen
    if few or not had_time(case.facts) or longer_episodes_cost_more(case.facts):
        return Verdict.INSUFFICIENT_DATA, f"{went}: it is not clear whether it rises"
    if curve.whole.is_sure_fall and -curve.gain > MATERIAL * abs(curve.start):
        return Verdict.UNSTABLE, f"{went} and declined throughout"
    if abs(curve.gain) > curve.noise:
        return Verdict.NOT_LEARNING, f"{went}, and no rise along the way is sure (noise {curve.noise:.2g})"
    return Verdict.NOT_LEARNING, f"{went}, which is no more than noise ({curve.noise:.2g})"


def _learned(case: _Case, curve: ReturnCurve) -> bool:
    """Whether it surely ended above its start, by an amount that matters."""
    material = case.goal is not None or curve.gain > LEAST_GAIN * max(abs(curve.start), abs(curve.final))
    return curve.gain > 0.0 and curve.rose and curve.surely_rose and material


def _by_evaluations(case: _Case, went: str) -> tuple[Verdict, str] | None:
    """What evaluations surely say where the mean over training episodes is too slow or too noisy to say anything."""
    series, tried = case.facts.series("return/eval"), case.facts.curve_of("return/eval")
    if series is None or tried is None or not evaluations_surely_rose(case.facts):
        return None
    word = Verdict.LEARNING if tried.rising or tried.leans_up else Verdict.PLATEAUED
    return word, f"{series.logged_as} rose from {tried.start:.4g} to {tried.final:.4g}; {went}, which lags behind"


def _rise(case: _Case) -> str:
    rising = case.seen(Sign.STILL_RISING, least=Severity.INFO)
    if rising is not None:
        return rising.summary
    curve, returns = case.curve, case.facts.run.returns
    if curve is None or returns is None:
        return "the return is rising"
    return (
        f"{returns.logged_as} rose from {curve.start:.4g} to {curve.final:.4g} over "
        f"{steps_text(case.facts, curve.steps[-1])}"
    )


_JUDGES: tuple[tuple[Verdict, Callable[[_Case], str | None]], ...] = (
    (Verdict.MISCONFIGURED, _faulty_environment),
    (Verdict.NO_FAULT_FOUND, _sound_environment),
    (Verdict.NOT_RL, _not_rl),
    (Verdict.CRASHED, _crashed),
    (Verdict.INSUFFICIENT_DATA, _insufficient),
    (Verdict.MISCONFIGURED, _misconfigured),
    (Verdict.REWARD_HACKING, _reward_hacking),
    (Verdict.SOLVED, _solved),
    (Verdict.COLLAPSED, _collapsed),
    (Verdict.UNSTABLE, _unstable),
    (Verdict.NOT_LEARNING, _not_learning),
    (Verdict.INTERRUPTED, _interrupted),
    (Verdict.PLATEAUED, _plateaued),
)
