"""The return is exactly the same at every point.

What it sees: All logged returns are one number to the last digit.
Why it hurts: A return that never moves carries no signal: nothing is learned from it, or a number is logged that
has nothing to do with the policy.
Evidence needed: a return with at least 10 points, or 4 of a number that is not a whole one: there are too many of those
to meet by chance.
Looks alike: A solved task with a bounded return (CartPole at 500, success 1 in every episode). A sparse task before
its first success, early. A value that was printed with few decimals.
What to change: Find out which it is: print single episode returns. All zero: the reward is never seen (sparse
reward, unreachable goal). All at the worst value: every episode runs into the limit. Neither: the logged value is
not the return.
References: ray issue 10416 (the return stays undefined for ever: no episode ends); trl issue 3857 (reward 0, loss
0).
"""

from __future__ import annotations

from rlclinic.facts.goal import goal_of, had_time
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import nothing_to_learn, saturation
from rlclinic.facts.window_noise import repeats_itself
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals.constants import constants

RULE = Rule(
    "CNV08",
    needs=("return/train|return/eval",),
    step=DecisionStep.ENVIRONMENT,
    means=(Sign.NOT_LEARNING, Sign.CONSTANT),
)


class Limits(RuleLimits):
    fewest_points: int = 10
    fewest_of_many: int = 4
    """The same of a number that is not a whole one."""
    early_points: int = 30
    early_evaluations: int = 10
    """Points below which zeros alone say little: the first success of a sparse task may still come. An evaluation is a
    mean over several episodes."""
    many_episodes: float = 100.0
    """Episodes of which each one pays the same: then it is no matter of time, whatever published runs needed."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """See whether the return has one value only."""
    returns, curve = facts.run.returns, facts.curve
    if returns is None or curve is None or curve.points < limits.fewest_of_many:
        return None
    found = constants(returns)
    value, points = found.value, found.n
    few = points < limits.fewest_points
    if not found.constant or saturation(facts) is not None:
        return None
    # A mean over past episodes repeats itself while none ends.
    if few and (value == round(value) or repeats_itself(returns)):
        return None
    goal = goal_of(facts)
    if goal is not None and value >= goal.level:
        return None
    summary = f"{returns.logged_as} is {value:.4g} at all {points} points"
    if returns.decimals is not None:
        summary += f" (printed with {returns.decimals} decimals)"
    if (why := nothing_to_learn(facts)) is not None:
        summary += f": {why}"
    evidence = (facts.evidence(returns.name, float(points), limits.fewest_points, note="points of exactly one value"),)
    least = limits.early_evaluations if "eval" in returns.name else limits.early_points
    early = not (had_time(facts) or _many_episodes(facts, limits)) or (value == 0 and points < least)
    rounded = returns.decimals is not None and not _best_is_the_same(facts, value)
    unsure = (value > 0 and goal is None and why is None and not _lengths_move(facts)) or rounded
    severity = Severity.INFO if early or unsure or few else Severity.WARNING
    return RuleResult(severity, 0.9, summary, evidence)


def _many_episodes(facts: RunFacts, limits: Limits) -> bool:
    lengths, taken = facts.level("episode_length"), facts.run.env_steps
    return lengths is not None and taken is not None and taken >= limits.many_episodes * lengths.value > 0.0


def _best_is_the_same(facts: RunFacts, value: float) -> bool:
    """Whether no single episode ever got more: then rounding hides nothing."""
    best = facts.series("return/train_max")
    return best is not None and best.highest == value


def _lengths_move(facts: RunFacts) -> bool:
    """Whether episodes differ, so that a policy that changes them earns nothing by it."""
    lengths = facts.level("episode_length")
    return lengths is not None and lengths.spread > 0
