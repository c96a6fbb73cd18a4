"""The return is no better than at the start.

What it sees: Neither the end nor any stretch in between is above the start by more than noise, although the run had
the points, and on well-known tasks the steps, in which others improve.
Why it hurts: Nothing that was learned shows in the return.
Evidence needed: a return with at least 10 points (a warning from 20 on while the run goes on); half of the budget, and
half of the env steps that published runs of a well-known task needed.
Looks alike: A level that held for a while and was lost (that is a fall). A short or early stopped run. A sparse
task before its first success. A resumed or pretrained run that began at its ceiling. Costs that add up when
episodes get longer. Penalties of training alone: evaluations that hold their best show it. Rare points far
below all others, which hide in the mean that most of them rose.
What to change: First rule out that nothing could be learned: do updates run, does the reward reach the learner, do
actions have an effect (probes, `examine`). Then the learning rate, in steps of ten.
References: Andy Jones, Debugging RL, Without the Agonizing Pain; tensorflow/agents issue 651 (the actor never
moves).
"""

from __future__ import annotations

from rlclinic.facts.costs import longer_episodes_cost_more
from rlclinic.facts.evaluations import began_unseen, evaluations_hold
from rlclinic.facts.goal import goal_of, had_time
from rlclinic.facts.return_state import usual_rise
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import saturation
from rlclinic.model.finding import Severity
from rlclinic.model.run import Status
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.rules.words import steps_text
from rlclinic.signals.trend import trend

RULE = Rule("CNV06", needs=("return/train|return/eval",), step=DecisionStep.TASK, means=(Sign.NOT_LEARNING,))


class Limits(RuleLimits):
    fewest_points: int = 10
    warning_points: int = 20
    """Points from which on the lack of a rise is worth a warning, and the same in a run that came to its end."""
    warning_points_of_all: int = 10
    best_within: float = 4.0
    """Units of noise that the best stretch must stay below; chance alone makes two to three."""
    resumed: float = 0.2
    """First step as a share of the last one, above which the log begins in the middle of a training."""
    same: float = 0.002
    """Share of its level within which a return that is all evaluations is one and the same."""
    by_chance: float = 0.01
    """Of a rank correlation with time this strong without any trend: below it a slow rise is more than noise."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the best and the last level with the first."""
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or curve.points < limits.fewest_points or not had_time(facts):
        return None
    bar = max(curve.noise, 2.0 * curve.gain_error)
    if curve.climb > limits.best_within * curve.noise or curve.gain > bar or curve.rising:
        return None
    # Noise may hide a rise from its ends that all levels together show.
    if curve.climbed and curve.whole.is_sure:
        return None
    goal = goal_of(facts)
    if (goal is not None and curve.start >= goal.level) or saturation(facts) is not None:
        return None
    if curve.fell_below_start or longer_episodes_cost_more(facts) or not curve.span:
        return None
    summary = (
        f"{returns.logged_as} began at {curve.start:.4g} and ended at {curve.final:.4g} after "
        f"{steps_text(facts, curve.steps[-1])}; the best level in between was {curve.best:.4g} "
        f"(noise {curve.noise:.2g})"
    )
    evidence = (
        facts.evidence(returns.name, curve.gain, bar, note="gain from start to end, against noise"),
        facts.evidence(returns.name, curve.climb, limits.best_within * curve.noise, note="best level minus the start"),
    )
    if returns.steps[0] > limits.resumed * curve.steps[-1]:
        return RuleResult(Severity.INFO, 0.6, summary + "; the log begins in the middle of a training", evidence)
    least = limits.warning_points_of_all if facts.run.status.state is Status.FINISHED else limits.warning_points
    if usual_rise(facts) is not None:
        return RuleResult(Severity.INFO, 0.5, summary + "; most points rose, and a few far below hide it", evidence)
    if evaluations_hold(facts):
        return RuleResult(Severity.INFO, 0.5, summary + "; evaluations rose", evidence)
    if began_unseen(facts) and curve.span > limits.same * abs(curve.final):
        return RuleResult(Severity.INFO, 0.5, summary + "; where it began was not logged", evidence)
    if curve.points < least or curve.gain > max(curve.noise, curve.gain_error) or _surely_rises(returns, limits):
        return RuleResult(Severity.INFO, 0.6, summary, evidence)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence)


def _surely_rises(returns: Series, limits: Limits) -> bool:
    """Whether a rise along the whole run is sure, however small it is."""
    slope = trend(returns)
    return slope.enough and slope.low > 0.0 and slope.p_value < limits.by_chance
