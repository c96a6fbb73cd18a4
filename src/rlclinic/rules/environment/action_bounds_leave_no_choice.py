"""An action dimension has no room between its bounds.

What it sees: Low equals high in a dimension of the action space, or there is a single choice.
Why it hurts: The dimension cannot be used; rescaling divides by zero.
Evidence needed: the action space.
Looks alike: Nothing.
What to change: Give the dimension bounds with low below high, or remove it.
References: hill-a/stable-baselines#553.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "ENV41",
    needs=("environment:action",),
    step=DecisionStep.ENVIRONMENT,
    causes={"action-space-degenerate": 8.0},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Look for empty ranges."""
    env = facts.measured
    assert env.action is not None
    flat = env.action.degenerate
    if not flat:
        return None
    summary = f"the action dimensions {', '.join(map(str, flat[:6]))} have the same low and high"
    return RuleResult(Severity.ERROR, 0.98, summary, (measured("empty dimensions", len(flat), 0.0),))
