"""The expert labels the same state in different ways.

What it sees: Asked twice about one state the expert gives labels that differ, by much of what separates the imitator
from it.
Why it hurts: A policy that is fitted to contradicting labels takes their mean, which may be right for neither, and no
amount of data lowers the error below the contradiction.
Evidence needed: imitation/inconsistency: an expert that can be asked twice.
Looks alike: An expert that sees more than the imitator: asked twice it gives one answer.
What to change: Average several labels of a state, drop the unreliable annotator, or predict a distribution of actions.
References: Mandlekar et al. 2021 (arXiv 2108.03298).
"""

from __future__ import annotations

from rlclinic.facts.imitation import imitation_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMI02",
    needs=("imitation/inconsistency",),
    algorithms=("imitation",),
    causes={"expert-inconsistent": 6.0},
)


class Limits(RuleLimits):
    least: float = 0.05
    """Distance between two labels of one state, as a share of states or of the half range of the action."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge how far two labels of one state are apart."""
    found = imitation_of(facts)
    if found is None or found.inconsistency is None or found.inconsistency < limits.least:
        return None
    summary = f"two labels of the same state are {found.inconsistency:.2f} apart; {found.told}"
    evidence = (facts.evidence("imitation/inconsistency", found.inconsistency, limits.least, note="asked twice"),)
    return RuleResult(Severity.WARNING if found.short else Severity.INFO, 0.9, summary, evidence)
