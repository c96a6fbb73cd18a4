"""The policy comes to states that its data do not show.

What it sees: In evaluations the policy visits many states that are farther from the data than these are from each
other, although in the states of the data it does much what was done there.
Why it hurts: Small differences add up until the policy is where nothing was recorded, and nothing tells it what to do
there.
Evidence needed: offline/states_outside, offline/actions_outside and return/eval.
Looks alike: A policy that is better than its data and so comes to new states: it reaches the goal. One that leaves the
data by its actions already.
What to change: More and more varied data, above all around the path of the good episodes; where the environment can be
played, a few steps online.
References: Schweighofer et al. 2022 (arXiv 2111.04714); Ross et al. 2011 (arXiv 1011.0686).
"""

from __future__ import annotations

from rlclinic.facts.offline import offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL03",
    needs=("return/eval", "offline/states_outside"),
    algorithms=("q-learning", "continuous-q"),
    covered_by=("OFL01", "OFL11"),
    causes={"dataset-coverage-poor": 4.0, "too-many-updates": 0.5},
)


class Limits(RuleLimits):
    outside: float = 0.4
    """Share of visited states that the data do not show; of the data's own it is 0.05."""
    actions: float = 0.3


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the share of states outside the data."""
    found = offline_of(facts)
    if found is None or not found.short or found.states_outside is None or found.states_outside < limits.outside:
        return None
    if (found.actions_outside or 0.0) > limits.actions:
        return None
    share = 100 * found.states_outside
    summary = f"{share:.0f}% of the states that the policy visits are unlike any in the data; {found.told}"
    evidence = (facts.evidence("offline/states_outside", found.states_outside, limits.outside),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
