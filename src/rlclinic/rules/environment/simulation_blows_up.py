"""The state grows beyond all bounds.

What it sees: A number of the observation reaches a million times the size that it has early in episodes.
Why it hurts: The simulation diverges; normalisers and critics follow the few huge values.
Evidence needed: an examination with continuous observations.
Looks alike: Contact forces, whose peaks are some thousand times their usual size.
What to change: Halve the time step, raise the solver's iterations, and end the episode where the state leaves its
bounds.
References: four-phase method, step 2.6.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV32",
    needs=("environment:observation",),
    step=DecisionStep.ENVIRONMENT,
    causes={"physics-unstable": 7.0},
)


class Limits(RuleLimits):
    beyond: float = 1e6
    """Largest size of a number over the 90% quantile of its sizes early in episodes."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the largest size with the usual one."""
    env = facts.measured
    assert env.observation is not None
    growth = env.observation.growth
    if not growth > limits.beyond:
        return None
    summary = f"a number of the observation reached {growth:.2g} times its usual size"
    return RuleResult(
        Severity.ERROR, 0.9, summary, (measured("largest over usual size", growth, limits.beyond, env.steps),)
    )
