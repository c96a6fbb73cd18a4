"""What an action does is seen only steps later.

What it sees: From the same state, different actions lead to the same observations for two steps or more, and differ
only after them.
Why it hurts: The agent sees the past: what it does now answers a state that is gone.
Evidence needed: an examination of an environment that can be copied or replayed; or a training that was watched with
Observe.
Looks alike: A motor that takes time, whose command should then be part of the observation.
What to change: Return the newest observation, or add the actions that are on their way to it.
References: Katsikopoulos and Engelbrecht 2003 (delayed MDPs); check 5 of the environment checks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV37",
    needs=("environment:observation",),
    step=DecisionStep.ENVIRONMENT,
    causes={"observation-corrupted": 6.0, "observation-insufficient": 4.5},
)


class Limits(RuleLimits):
    steps: int = 2
    """Steps between an action and its first effect on the observation."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the lag of the first effect."""
    env = facts.measured
    assert env.observation is not None
    lag = env.observation.action_lag
    if lag is None or lag < limits.steps:
        return None
    summary = f"an action changes the observation only {lag} steps later than the next one"
    return RuleResult(Severity.ERROR, 0.9, summary, (measured("lag of the first effect", lag, limits.steps),))
