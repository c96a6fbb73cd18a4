"""Most rewards lie exactly at a bound.

What it sees: Rewards take many values, and most steps pay exactly the least or the greatest of them; or the reward is
the sign of the sum of its terms.
Why it hurts: Better and worse beyond the bound are paid alike, so nothing pulls the policy out of there.
Evidence needed: some hundred steps, from an examination or a training that was watched with Observe.
Looks alike: A reward of nothing where nothing happens: 0 is not taken for a bound.
What to change: Take the clip away and divide by the spread of the returns instead.
References: van Hasselt et al. 2016 (arXiv 1602.07714).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV57",
    needs=("environment:reward",),
    step=DecisionStep.REWARD,
    causes={"reward-clipped": 8.5},
)


class Limits(RuleLimits):
    share: float = 0.4
    """Share of steps at the bound."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the ends of the range of rewards."""
    env = facts.measured
    reward = env.reward
    assert reward is not None
    if reward.cut_sum:
        summary = f"the reward is {reward.cut_sum} of the sum of the terms that `info` tells"
        return RuleResult(Severity.WARNING, 0.92, summary, (measured("reward made of its terms", 1.0, 0.0, env.steps),))
    if reward.at_edge < limits.share:
        return None
    share = f"{100 * reward.at_edge:.3g}% of the steps"
    summary = f"{share} pay exactly {reward.edge:g}, an end of the range of {reward.distinct} rewards"
    return RuleResult(
        Severity.WARNING, 0.92, summary, (measured("share at the bound", reward.at_edge, limits.share, env.steps),)
    )
