"""A term of the reward is always 0.

What it sees: A reward component that `info` tells is exactly 0 at every step of every policy.
Why it hurts: What it should ask for is not asked for: a check that never matches, a weight of 0, a sensor that is not
read.
Evidence needed: reward components in `info` (reward_NAME, or a dict under reward_components).
Looks alike: A bonus that no policy has earned yet.
What to change: Call the term by hand on a state where it must pay, then fix or remove it.
References: four-phase method, step 1.1.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "ENV60",
    needs=("environment:reward",),
    step=DecisionStep.REWARD,
    causes={"reward-component-dead": 8.5},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Look for components without life."""
    env = facts.measured
    reward = env.reward
    assert reward is not None
    dead = [part.name for part in reward.components if part.constant and part.mean == 0.0]
    if not dead or len(dead) == len(reward.components):
        return None
    named = ", ".join(dead[:4])
    summary = f"of {len(reward.components)} terms of the reward {named} is 0 at every one of {env.steps:,} steps"
    return RuleResult(Severity.WARNING, 0.9, summary, (measured("terms that are always 0", len(dead), 0.0, env.steps),))
