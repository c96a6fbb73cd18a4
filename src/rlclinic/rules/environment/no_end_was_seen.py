"""No episode ended.

What it sees: Thousands of steps of an episode without an end, no time limit that would come later, and no end of any
episode under random actions, whatever better policies reach.
Why it hurts: Without ends no return is known, nothing is reset, and the same stretch of the task is seen for ever.
Evidence needed: an examination, or a training that was watched with Observe.
Looks alike: A task that goes on for ever by design: give it a time limit for training all the same.
What to change: Add gymnasium's TimeLimit, or end the episode where the task is over.
References: four-phase method, step 3.3.
"""

from __future__ import annotations

import math

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV48",
    needs=("environment:episodes",),
    step=DecisionStep.ENVIRONMENT,
    causes={"episode-never-ends": 7.0},
)


class Limits(RuleLimits):
    steps: int = 1500
    """Steps without an end."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for an end."""
    env = facts.measured
    ends = env.episodes
    assert ends is not None
    if math.isfinite(ends.mean_length) or ends.unended < limits.steps:
        return None
    if ends.limit is not None and ends.limit > ends.unended:
        return None
    some = f"only {ends.count} episodes" if ends.count else "no episode"
    summary = f"{some} ended in {env.steps:,} steps, none at random; the longest had {ends.unended:,}"
    return RuleResult(Severity.WARNING, 0.9, summary, (measured("steps without an end", ends.unended, limits.steps),))
