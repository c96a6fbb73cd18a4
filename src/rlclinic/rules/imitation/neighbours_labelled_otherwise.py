"""A consistent expert labels states differently that look alike to the imitator.

What it sees: The labels of neighbouring states differ nearly as much as those of any two states, although the expert
gives the same answer when it is asked again.
Why it hurts: The expert decides by something that the observation does not hold: a hidden state, the past, a goal.
The imitator cannot learn it from these observations, however many labels it gets.
Evidence needed: imitation/label_spread and imitation/inconsistency.
Looks alike: An inconsistent expert: it gives different answers to the same state. Bang-bang control: labels jump at a
border, near which a gate asks; but labels that were held out are predicted.
What to change: Give the imitator what the expert sees, a history of observations or a recurrent policy; or imitate an
expert that sees what it sees; or go on with reinforcement learning.
References: Weihs et al. 2021 (arXiv 2007.12173); de Haan et al. 2019 (arXiv 1905.11979).
"""

from __future__ import annotations

from rlclinic.facts.imitation import imitation_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMI03",
    needs=("return/eval", "imitation/label_spread", "imitation/inconsistency"),
    algorithms=("imitation",),
    causes={"expert-unimitable": 6.0},
)


class Limits(RuleLimits):
    spread: float = 0.4
    """Spread of labels among neighbours, as a share of that among any two states."""
    by_itself: float = 0.02
    """Distance between two labels of one state that is still the same answer."""
    predicted: float = 0.1
    """Distance from held-out labels below which they can be learned, however much neighbours differ."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the labels of neighbours of a consistent expert."""
    found = imitation_of(facts)
    if found is None or not found.short or found.label_spread is None or found.inconsistency is None:
        return None
    if found.label_spread < limits.spread or found.inconsistency > limits.by_itself:
        return None
    if found.disagreement_data is not None and found.disagreement_data < limits.predicted:
        return None
    told = f"labels of neighbouring states differ {found.label_spread:.0%} as much as labels of any two states"
    summary = f"{told}; {found.told}"
    evidence = (
        facts.evidence("imitation/label_spread", found.label_spread, limits.spread, note="nearest of another stretch"),
        facts.evidence("imitation/inconsistency", found.inconsistency, limits.by_itself, note="asked twice"),
    )
    return RuleResult(Severity.WARNING, 0.75, summary, evidence)
