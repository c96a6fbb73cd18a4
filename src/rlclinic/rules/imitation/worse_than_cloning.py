"""Later rounds made the policy worse than cloning had made it.

What it sees: The evaluations of the last rounds lie clearly below those of the first, which was pure cloning.
Why it hurts: Something in the rounds undoes what the demonstrations taught: data that are thrown away, labels that
contradict, a fit that stops too early.
Evidence needed: return/eval with at least 5 rounds.
Looks alike: One bad evaluation: levels are compared, and the loss must exceed their scatter.
What to change: Check in this order: are all rounds kept, is the fit long enough, does the expert agree with itself, is
the policy large enough.
References: Ross et al. 2011 (arXiv 1011.0686).
"""

from __future__ import annotations

from rlclinic.facts.imitation import imitation_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMI08",
    needs=("return/eval", "imitation/queries"),
    algorithms=("imitation",),
    causes={"aggregation-schedule-wrong": 0.8, "aggregate-underfit": 0.8, "expert-inconsistent": 0.5},
)


class Limits(RuleLimits):
    rounds: int = 5
    share: float = 0.2
    """Loss since the first rounds, as a share of the way from the first level to the goal or of the level itself."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the last evaluations with the first."""
    found, first = imitation_of(facts), facts.early("return/eval", 0.2)
    series = facts.series("return/eval")
    if found is None or not found.short or first is None or series is None or len(series) < limits.rounds:
        return None
    bar = max(limits.share * max(abs(first.value), abs(found.goal - first.value)), 2.0 * first.spread)
    if facts.run.algorithm.endswith("BC") or first.value - found.final < bar:
        return None
    summary = f"evaluations began at {first.value:.4g}, after cloning alone; {found.told}"
    evidence = (facts.evidence("return/eval", first.value - found.final, bar, level=first, note="first minus last"),)
    return RuleResult(Severity.WARNING, 0.6, summary, evidence)
