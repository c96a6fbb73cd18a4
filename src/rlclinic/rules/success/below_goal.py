"""The return is below the goal.

What it sees: The level at the end is below the threshold of the run's own config or of the well-known task. The gap
is given in units of the return and as the share of the way from a random policy (or from the start) to the
threshold.
Why it hurts: The goal is not met. Whether that is a fault or only too little time, the other findings say.
Evidence needed: a return, and a threshold in the config or an environment that rlclinic knows.
Looks alike: A run that is still rising, or that took fewer steps than published runs needed: it is early, not ill.
An evaluation that holds the goal while the return of the exploring policy is below it counts as reached.
What to change: If it still rises, give it more steps; if it is flat, look at the findings above this one first.
References: Gymnasium's registry of reward thresholds; RL Baselines3 Zoo benchmark.
"""

from __future__ import annotations

from rlclinic.facts.goal import goal_of, goal_reached, reference_steps
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.goal import Goal
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import Status
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.rules.words import steps_text

RULE = Rule("SUC02", needs=("return/train|return/eval",), step=DecisionStep.TASK)


class Limits(RuleLimits):
    fewest_points: int = 5
    expected: float = 1.0
    """Share of the steps that published runs needed, before which nobody expects the goal to be met."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Measure the gap between the end and the goal."""
    goal, curve = goal_of(facts), facts.curve
    returns = facts.run.returns
    if goal is None or curve is None or returns is None or curve.points < limits.fewest_points:
        return None
    reached = goal_reached(facts)
    if curve.final >= goal.level or (reached is not None and reached.held):
        return None
    share = goal.share(curve.final)
    summary = (
        f"{returns.logged_as} ended at {curve.final:.4g}, {goal.level - curve.final:.4g} below {goal.origin} "
        f"({goal.level:.4g}): {100 * min(max(share, 0.0), 1.0):.0f}% of the way up from {goal.base:.4g}"
    )
    if reached is not None:
        summary += f"; it was reached at {steps_text(facts, reached.step)} and lost"
    evidence = (facts.evidence(returns.name, curve.final, goal.level, note="level of the last points"),)
    severity, because = _severity(facts, curve, goal, limits)
    return RuleResult(severity, 0.9, summary + because, evidence)


def _severity(facts: RunFacts, curve: ReturnCurve, goal: Goal, limits: Limits) -> tuple[Severity, str]:
    """A gap is a warning only where the run had its time and no longer closes it."""
    if curve.rising:
        return Severity.INFO, "; the return is still rising"
    needed, taken = reference_steps(facts), facts.run.env_steps
    if needed is not None and taken is not None and taken < limits.expected * needed:
        return Severity.INFO, f"; published runs needed {needed:,.0f} env steps, this one took {taken:,.0f}"
    if facts.run.status.state is Status.INTERRUPTED or not curve.enough:
        return Severity.INFO, ""
    if goal.source == "task" and (needed is None or taken is None) and (curve.surely_gained or curve.climbed):
        return Severity.INFO, ""
    return Severity.WARNING, ""
