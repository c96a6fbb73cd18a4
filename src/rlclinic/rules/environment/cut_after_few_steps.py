"""All episodes are cut after the same few steps.

What it sees: Most episodes end as terminated at exactly the same small number of steps, at different observations.
Why it hurts: The task cannot be done in so few steps, and what comes after them is never seen.
Evidence needed: at least 10 episodes, from an examination or a training that was watched with Observe.
Looks alike: A task of a fixed small number of steps that shows the time; a single step, as in a bandit.
What to change: Loosen the condition that ends episodes, and report a time limit as truncated.
References: four-phase method, step 3.3.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV63",
    needs=("environment:episodes",),
    step=DecisionStep.ENVIRONMENT,
    causes={"termination-too-early": 8.5, "truncation-as-termination": 5.5},
)


class Limits(RuleLimits):
    fewest: int = 10
    """Episodes."""
    short: int = 20
    """Steps below which an episode is short."""
    share: float = 0.5
    """Of episodes that end at exactly the greatest length."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the greatest length."""
    env = facts.measured
    ends = env.episodes
    assert ends is not None
    if ends.count < limits.fewest or not 3 <= ends.longest < limits.short or ends.at_longest < limits.share:
        return None
    if ends.terminated_at_longest < 0.9 or ends.same_last or ends.knows_time:
        return None
    summary = (
        f"{100 * ends.at_longest:.3g}% of {ends.count} episodes end as terminated after exactly {ends.longest} steps"
    )
    evidence = measured("episodes of the greatest length", ends.at_longest, limits.share, ends.count)
    return RuleResult(Severity.ERROR, 0.92, summary, (evidence,), chance=ends.chance_of_one_length)
