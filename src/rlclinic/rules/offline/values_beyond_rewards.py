"""Values lie beyond what the rewards in the data allow.

What it sees: The mean value of the policy's actions, or of the steps in the data, is above the largest reward at every
step, or below the least one, at the end of the run.
Why it hurts: Such a value cannot be true for any policy. It comes from extrapolation that feeds on itself.
Evidence needed: offline/value_low, offline/value_high and q/mean.
Looks alike: A reward that is scaled for the learner: the bounds are those of the scaled one.
What to change: More weight for staying near the data, a lower rate of the critic, a slower target.
References: Fujimoto et al. 2019 (arXiv 1812.02900); Ball et al. 2023 (arXiv 2302.02948).
"""

from __future__ import annotations

from rlclinic.facts.offline import offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL04",
    needs=("q/mean", "offline/value_high"),
    algorithms=("q-learning", "continuous-q"),
    causes={"conservatism-too-weak": 2.0, "q-overestimation": 2.5, "learning-rate-too-high": 1.5},
)


class Limits(RuleLimits):
    beyond: float = 0.1
    """Distance beyond the bound, as a share of the range between the bounds."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the mean values against the bounds."""
    found = offline_of(facts)
    if found is None or found.q is None:
        return None
    values = [value for value in (found.q, found.q_policy) if value is not None]
    margin = limits.beyond * (found.value_high - found.value_low)
    high, low = max(values), min(values)
    if high <= found.value_high + margin and low >= found.value_low - margin:
        return None
    above = high > found.value_high + margin
    level, bound = (high, found.value_high) if above else (low, found.value_low)
    summary = (
        f"the mean value is {level:.4g}; with rewards like those in the data it is "
        f"{'at most' if above else 'at least'} {bound:.4g}"
    )
    evidence = (facts.evidence("q/mean", level, bound, note="mean value against what the rewards allow"),)
    return RuleResult(Severity.WARNING if found.short else Severity.INFO, 0.75, summary, evidence)
