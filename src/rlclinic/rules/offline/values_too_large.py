"""Rewards are so large that values dwarf everything else in the loss.

What it sees: The recorded steps have discounted returns, as the learner sees them, in the thousands and beyond, and the
evaluations end below the goal.
Why it hurts: Networks begin near zero and move by small steps: such values are far away, their errors squared swamp the
term that keeps the policy near the data, and the policy follows the errors.
Evidence needed: offline/data_value and return/eval.
Looks alike: Large returns of a long task at a moderate discounted value.
What to change: Scale rewards so that discounted returns are of the order of ten to a few hundred.
References: Henderson et al. 2018 (arXiv 1709.06560) on reward scale.
"""

from __future__ import annotations

from rlclinic.facts.offline import offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL11",
    needs=("return/eval", "offline/data_value"),
    algorithms=("q-learning", "continuous-q"),
    causes={"reward-scale-too-large": 4.5},
)


class Limits(RuleLimits):
    size: float = 2000.0
    """Of the mean discounted return, as the learner sees it; of usual tasks it is below 500."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the size of the recorded values."""
    found, worth = offline_of(facts), facts.late("offline/data_value", 1.0)
    if found is None or not found.short or worth is None or abs(worth.value) < limits.size:
        return None
    summary = f"the recorded steps have a mean discounted return of {worth.value:.4g}; {found.told}"
    evidence = (facts.evidence("offline/data_value", abs(worth.value), limits.size),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
