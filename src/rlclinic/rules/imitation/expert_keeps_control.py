"""The expert is still at the controls when the imitator should be.

What it sees: After half of the rounds of DAgger the expert still takes a large share of the steps, and the imitator
ends below the goal.
Why it hurts: Only what the imitator does itself shows its mistakes. While the expert steers, the data stay those of
cloning.
Evidence needed: imitation/beta with at least 4 rounds.
Looks alike: Cloning, where the expert takes every step by design. A gated variant that hands over where it must.
What to change: Let beta fall to 0 within the first rounds: beta_schedule=indicator.
References: Ross et al. 2011 (arXiv 1011.0686): the mean of beta must go to 0.
"""

from __future__ import annotations

from rlclinic.facts.imitation import imitation_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMI05",
    needs=("return/eval", "imitation/beta"),
    algorithms=("imitation",),
    causes={"mixing-decays-wrong": 6.0},
)


class Limits(RuleLimits):
    rounds: int = 4
    share: float = 0.2
    """Expert control in the second half of the rounds."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the share of expert control in the second half."""
    found, late = imitation_of(facts), facts.late("imitation/beta", 0.5)
    if found is None or not found.short or late is None or facts.run.algorithm.endswith("BC"):
        return None
    beta = facts.series("imitation/beta")
    if beta is None or len(beta) < limits.rounds or late.value < limits.share:
        return None
    summary = f"the expert still takes {late.value:.0%} of the steps in the second half; {found.told}"
    evidence = (facts.evidence("imitation/beta", late.value, limits.share, level=late, note="second half"),)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence)
