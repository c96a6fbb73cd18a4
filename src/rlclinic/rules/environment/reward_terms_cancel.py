"""Two terms of the reward cancel each other.

What it sees: Two reward components whose sum varies by less than a hundredth of what they vary by alone.
Why it hurts: What either asks for is undone by the other, so neither reaches the policy; numbers of both look alive.
Evidence needed: reward components in `info`, by name or with --component.
Looks alike: A term and its own correction on purpose, such as a cost that is refunded; then a third term teaches.
What to change: Look up how both are computed and drop one, or give them different weights.
References: four-phase method, step 1.1.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV65",
    needs=("environment:reward",),
    step=DecisionStep.REWARD,
    causes={"uninformative-reward": 3.0},
)


class Limits(RuleLimits):
    lost: float = 0.99
    """Share of the variance of both terms that their sum lacks."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the variance of the sum with those of its terms."""
    env = facts.measured
    reward = env.reward
    assert reward is not None
    if not reward.cancelled > limits.lost:
        return None
    one, other = reward.cancelling
    summary = (
        f"the reward terms {one} and {other} cancel: their sum lacks {100 * reward.cancelled:.4g}% of their variance"
    )
    return RuleResult(
        Severity.WARNING, 0.85, summary, (measured("variance lost", reward.cancelled, limits.lost, env.steps),)
    )
