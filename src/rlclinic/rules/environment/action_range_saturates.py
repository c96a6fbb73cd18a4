"""Half of the range of an action does what the whole range does.

What it sees: From the same state and with the same chance, an action half of the way to either end of its range has
exactly the effect of the end itself.
Why it hurts: The environment clips or takes only the sign. A policy that is pushed beyond that point gets no gradient
to come back, and its spread of actions no longer tells how much it tries.
Evidence needed: a continuous action space, and states that can be had twice.
Looks alike: An action that does nothing at all, which is a finding of its own.
What to change: Set the bounds of the action space to what the environment tells apart, or scale the action to it.
References: SB3, tips for custom environments.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV66",
    needs=("environment:action",),
    step=DecisionStep.ENVIRONMENT,
    causes={"action-space-unnormalised": 6.5},
)


class Limits(RuleLimits):
    alike: float = 0.99
    """Share of the states in which half of the range does as much."""
    touched: float = 0.5
    """Share of the states in which the action must do something at all."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for dimensions that are cut inside their bounds."""
    action, ends = facts.measured.action, facts.measured.episodes
    assert action is not None
    if ends is not None and ends.longest <= 1:
        # Of one step only its pay is left to differ, and a bid that wins pays the same as a higher one.
        return None
    cut = [one for one in action.effects if one.touched > limits.touched and one.inner > limits.alike]
    if not cut:
        return None
    named = ", ".join(one.name for one in cut[:4])
    summary = f"half of the range of action {named} does exactly what all of it does: the rest is clipped"
    return RuleResult(
        Severity.WARNING, 0.8, summary, (measured("states where half does as much", cut[0].inner, limits.alike),)
    )
