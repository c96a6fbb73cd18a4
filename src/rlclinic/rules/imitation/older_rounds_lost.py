"""What earlier rounds taught is not kept, or is not learned from.

What it sees: The data do not grow although labels are given in every round, or the policy is fitted again only after
many rounds.
Why it hurts: DAgger's guarantee is about all rounds together. A policy that only sees the last round forgets the states
it came from; one that is fitted rarely keeps labelling the mistakes of an old policy.
Evidence needed: imitation/data and imitation/queries, or the settings aggregate and retrain_every.
Looks alike: Gated variants: their data grow slowly because they ask rarely.
What to change: Keep the data of all rounds and fit after each of them.
References: Ross et al. 2011 (arXiv 1011.0686).
"""

from __future__ import annotations

from rlclinic.facts.imitation import imitation_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMI04",
    needs=("return/eval", "imitation/data", "imitation/queries"),
    algorithms=("imitation",),
    causes={"aggregation-schedule-wrong": 6.0},
)


class Limits(RuleLimits):
    kept: float = 0.6
    """Share of all labels so far that must be in the data."""
    rounds: float = 3.0
    """Rounds between two fits from which on the policy is old."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the labels that are kept with those that were given."""
    found, data, queries = imitation_of(facts), facts.series("imitation/data"), facts.series("imitation/queries")
    if found is None or not found.short or data is None or queries is None or not queries.last:
        return None
    share = float(data.last or 0.0) / queries.last
    every = facts.setting("retrain_every") or 1.0
    if share < limits.kept and len(data) > 1:
        summary = f"only {share:.0%} of the labels so far are used for training; {found.told}"
        evidence = (facts.evidence("imitation/data", share, limits.kept, note="share of all labels, at the end"),)
        return RuleResult(Severity.WARNING, 0.85, summary, evidence)
    if every >= limits.rounds:
        summary = f"the policy is retrained only every {every:.0f} rounds; {found.told}"
        evidence = (facts.evidence("imitation/data", every, limits.rounds, note="rounds between two fits"),)
        return RuleResult(Severity.WARNING, 0.85, summary, evidence)
    return None
