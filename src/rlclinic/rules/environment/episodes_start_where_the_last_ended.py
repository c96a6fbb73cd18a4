"""An episode goes on where the one before it stopped.

What it sees: First observations are exactly the last ones of the episodes before, or follow them more closely than
chance allows (permutation test, Holm's correction); or a used copy ends at other steps than a fresh one.
Why it hurts: The first action of an episode answers a state of another one, and credit crosses the border.
Evidence needed: at least 20 episodes in a row.
Looks alike: A task that goes on where it stopped by design.
What to change: Compute the observation that reset returns after the state was set back.
References: envpool#299; check 3 of the environment checks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV42",
    needs=("environment:reset",),
    step=DecisionStep.ENVIRONMENT,
    causes={"reset-broken": 7.5, "observation-corrupted": 2.0},
)


class Limits(RuleLimits):
    stale: float = 0.5
    """Share of episodes that start at the last observation."""
    leak: float = 0.5
    """Correlation of first and last observations."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare first observations with the last ones before them."""
    env = facts.measured
    reset = env.reset
    assert reset is not None
    if reset.carried == "end":
        summary = "with the same seed and actions a used copy ends at another step than a fresh one: a counter goes on"
        return RuleResult(Severity.ERROR, 0.95, summary, (measured("used copy ends elsewhere", 1.0, 0.0),))
    # Where all starts are one place, the end may be there too.
    if reset.stale > limits.stale and not (reset.seeds and reset.starts == 1):
        summary = f"{100 * reset.stale:.3g}% of the episodes start at exactly the last observation of the one before"
        return RuleResult(Severity.ERROR, 0.97, summary, (measured("stale starts", reset.stale, limits.stale),))
    if not reset.leak > limits.leak:
        return None
    summary = f"first observations correlate by {reset.leak:.2g} with the last ones of the episodes before"
    evidence = measured("correlation", reset.leak, limits.leak)
    return RuleResult(Severity.ERROR, 0.85, summary, (evidence,), chance=reset.leak_probability)
