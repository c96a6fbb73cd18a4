"""The return was still rising when the log ended.

What it sees: The last third of the run still adds a material part of the whole climb, and more than noise.
Why it hurts: It does not. The run was stopped, or its budget ended, before it showed what it can do.
Evidence needed: a return with at least 5 points.
Looks alike: A mean over the last 100 episodes rises for a while after the policy has stopped improving.
What to change: Give it more steps before changing anything else; continue from the last checkpoint if there is one.
References: none needed.
"""

from __future__ import annotations

from rlclinic.facts.goal import goal_of, goal_reached
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import saturation
from rlclinic.model.finding import Severity
from rlclinic.model.goal import Goal
from rlclinic.model.return_curve import MATERIAL_RISE
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals.forecast import forecast

RULE = Rule("CNV02", needs=("return/train|return/eval",), means=(Sign.STILL_RISING,))


class Limits(RuleLimits):
    fewest_points: int = 5
    budget_used: float = 0.98
    """Share of the budget from which on nothing is left to forecast."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Report the rise of the last third."""
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or curve.points < limits.fewest_points:
        return None
    if not curve.rising or curve.gain <= curve.noise or curve.drop > 0.2 * max(curve.climb, 0.0):
        return None
    goal = goal_of(facts)
    reached = goal_reached(facts)
    if goal is not None and reached is not None and reached.held and curve.final >= goal.level:
        return None
    if goal is None and saturation(facts) is not None:
        return None
    rise = curve.late_rise if curve.still_rising else curve.third.value
    summary = (
        f"{returns.logged_as} rose by {rise:.4g} over the last third of the run "
        f"({100 * min(rise / curve.climb, 1.0):.0f}% of its climb) and ended at {curve.final:.4g}"
    ) + _outlook(facts, goal, limits)
    third = float(curve.steps[-max(1, curve.steps.size // 3)])
    bar = MATERIAL_RISE * curve.climb
    evidence = (facts.evidence(returns.name, rise, bar, note="rise over the last third"),)
    return RuleResult(Severity.INFO, 0.85, summary, evidence, third)


def _outlook(facts: RunFacts, goal: Goal | None, limits: Limits) -> str:
    """For a run with budget left: how likely it reaches its goal within it."""
    budget, returns = facts.run.budget, facts.run.returns
    if goal is None or budget is None or returns is None or facts.run.steps >= limits.budget_used * budget:
        return ""
    ahead = forecast(returns, goal.level, budget)
    if not ahead.enough:
        return ""
    when = f", about step {ahead.step:,.0f}" if ahead.step is not None and ahead.probability >= 0.5 else ""
    return (
        f"; continued to its budget of {budget:,.0f} it reaches {goal.level:.4g} with a chance of "
        f"{100 * ahead.probability:.0f}%{when}"
    )
