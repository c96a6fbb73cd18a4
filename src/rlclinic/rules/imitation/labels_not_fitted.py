"""The policy does not fit the labels that it has, although they can be fitted.

What it sees: On held-out states of its own data the imitator is far from labels of an expert that is consistent and
whose neighbouring labels agree, or it is far from those of earlier rounds only.
Why it hurts: What is not fitted is not imitated; more labels of the same kind do not help. A policy that goes on from
its last weights with few passes forgets the older rounds.
Evidence needed: imitation/disagreement_data; imitation/loss_old and imitation/loss_new for what is forgotten.
Looks alike: Contradicting labels, or labels that the observation does not explain: no policy fits those.
What to change: More passes, a larger network, a higher learning rate, or a fit from fresh weights.
References: Ross et al. 2011 (arXiv 1011.0686); Ash & Adams 2020 (arXiv 1910.08475) on warm starts.
"""

from __future__ import annotations

from rlclinic.facts.imitation import imitation_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMI07",
    needs=("return/eval", "imitation/disagreement_data"),
    algorithms=("imitation",),
    covered_by=("IMI02", "IMI03", "IMI04"),
    causes={"aggregate-underfit": 5.0, "learning-rate-too-low": 1.0, "network-too-small": 1.0},
)


class Limits(RuleLimits):
    apart: float = 0.12
    """Distance from held-out labels."""
    spread: float = 0.4
    """Spread among the labels of neighbours above which they cannot be fitted."""
    by_itself: float = 0.02
    forgotten: float = 3.0
    """Loss on earlier rounds against that on the newest."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the distance from held-out labels, and what of earlier rounds is forgotten."""
    found = imitation_of(facts)
    if found is None or not found.short or found.disagreement_data is None:
        return None
    if (found.inconsistency or 0.0) > limits.by_itself or (found.label_spread or 0.0) >= limits.spread:
        return None
    if found.disagreement_data >= limits.apart:
        summary = f"the policy is {found.disagreement_data:.2f} off the held-out labels of its own data; {found.told}"
        evidence = (facts.evidence("imitation/disagreement_data", found.disagreement_data, limits.apart),)
        return RuleResult(Severity.WARNING, 0.7, summary, evidence)
    old, new = facts.late("imitation/loss_old", 0.5), facts.late("imitation/loss_new", 0.5)
    if old is None or new is None or old.value < limits.forgotten * max(new.value, 1e-6):
        return None
    if facts.run.config.get("warm_start") is not True:
        return None
    summary = f"the loss on earlier rounds is {old.value:.3g}, on the newest {new.value:.3g}; {found.told}"
    evidence = (facts.evidence("imitation/loss_old", old.value, limits.forgotten * new.value, level=old),)
    return RuleResult(Severity.WARNING, 0.6, summary, evidence)
