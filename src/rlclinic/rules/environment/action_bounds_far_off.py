"""The box of actions lies far from [-1, 1].

What it sees: Bounds of which a Gaussian around 0 with spread 1 hardly ever
reaches a quarter.
Why it hurts: A policy starts around 0 with a spread of about 1: what lies outside is clipped, and far ends are never
tried.
Evidence needed: a continuous action space.
Looks alike: A trainer that rescales actions by itself, as SB3's SAC and TD3 do.
What to change: Rescale to [-1, 1] with RescaleAction and map back inside the environment.
References: SB3, tips for custom environments; hill-a/stable-baselines#553.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV40",
    needs=("environment:action",),
    step=DecisionStep.ENVIRONMENT,
    causes={"action-space-unnormalised": 7.0},
)


class Limits(RuleLimits):
    reached: float = 0.01
    """Probability that a standard normal reaches the outer quarters of the range."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the bounds with a standard normal."""
    env = facts.measured
    action = env.action
    assert action is not None
    if action.kind != "box":
        return None
    hard = [
        index
        for index, (low, high) in enumerate(zip(action.low, action.high, strict=True))
        if math.isfinite(low) and math.isfinite(high) and high > low and _reached(low, high) < limits.reached
    ]
    if not hard:
        return None
    low, high = action.low[hard[0]], action.high[hard[0]]
    summary = f"actions lie in [{low:g}, {high:g}] (dimension {hard[0]}): a policy around 0 hardly reaches the ends"
    return RuleResult(
        Severity.WARNING,
        0.9,
        summary,
        (measured("probability of the outer quarters", _reached(low, high), limits.reached),),
    )


def _reached(low: float, high: float) -> float:
    """Probability that a standard normal, clipped to the range, lies in its lowest or its highest quarter."""
    quarter, normal = (high - low) / 4.0, NormalDist()
    return min(normal.cdf(low + quarter), 1.0 - normal.cdf(high - quarter))
