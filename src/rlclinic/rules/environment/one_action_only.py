"""The policy has one action to choose from.

What it sees: The action space has one action, or the entropy of a discrete policy is exactly zero from the first point
to the last.
Why it hurts: There is nothing to choose: every policy earns the same, and no setting of the trainer changes that.
Evidence needed: the number of actions in the config, or an entropy with at least 10 points.
Looks alike: A policy that became deterministic: its entropy began above zero. A continuous policy whose entropy passes
zero. A zero that was printed with few decimals.
What to change: Look at the action space of the environment: its number of actions, or low and high of each dimension,
and at what wrappers make of it.
References: Gymnasium documentation, Spaces.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV21",
    needs=("entropy|config:n_actions",),
    step=DecisionStep.ENVIRONMENT,
    causes={"action-space-degenerate": 6.0},
)


class Limits(RuleLimits):
    fewest_points: int = 10
    least_actions: int = 2
    """Actions that make a choice."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the actions, else see whether the entropy was ever above zero."""
    actions = facts.setting("n_actions")
    if actions is not None:
        if actions >= limits.least_actions or actions < 1:
            return None
        evidence = (setting_evidence(facts, "n_actions", actions, limits.least_actions, note="actions to choose from"),)
        return RuleResult(
            Severity.ERROR, 0.9, f"the action space has {actions:.0f} action: nothing to choose", evidence
        )
    entropy = facts.series("entropy")
    if entropy is None or not facts.is_on_policy or facts.is_language_model or entropy.decimals is not None:
        return None
    values = finite(entropy)[1]
    if values.size < limits.fewest_points or values.any():
        return None
    summary = f"{entropy.logged_as} is exactly 0 at all {values.size} points: the policy never had a choice"
    evidence = (facts.evidence("entropy", 0.0, note="at every point"),)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence)
