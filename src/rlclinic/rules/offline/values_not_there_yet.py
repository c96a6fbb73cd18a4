"""Values are far from what the recorded steps brought.

What it sees: At the end the mean value of the steps in the data is only a small part of their own discounted return, of
the same sign, and the evaluations end below the goal.
Why it hurts: Values start at zero and travel back one step with each renewal of the target. A policy that follows
values which have not arrived follows noise.
Evidence needed: q/mean, offline/data_value and return/eval.
Looks alike: A policy that is much worse than its data and whose low values are true.
What to change: More updates, a higher learning rate of the critic, or a faster target.
References: Kumar et al. 2021 (arXiv 2109.10813), section on underfitting.
"""

from __future__ import annotations

from rlclinic.facts.offline import offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL10",
    needs=("q/mean", "offline/data_value", "return/eval"),
    algorithms=("q-learning", "continuous-q"),
    covered_by=("OFL08",),
    causes={"too-few-updates": 1.5, "learning-rate-too-low": 2.0, "target-network-too-slow": 2.0},
)


class Limits(RuleLimits):
    arrived: float = 0.4
    """Mean value as a share of the mean discounted return."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the values with the returns of the same steps."""
    found, worth = offline_of(facts), facts.late("offline/data_value", 1.0)
    if found is None or not found.short or found.q is None or worth is None or worth.value == 0:
        return None
    share = found.q / worth.value
    if not -limits.arrived < share < limits.arrived:
        return None
    summary = f"the mean value is {found.q:.4g}, but the same steps earned {worth.value:.4g}; {found.told}"
    evidence = (facts.evidence("q/mean", share, limits.arrived, note="share of the discounted return of the data"),)
    return RuleResult(Severity.WARNING, 0.6, summary, evidence)
