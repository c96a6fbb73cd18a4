"""The imitator agrees with its expert on the data and errs on the states that it reaches itself.

What it sees: On states that the imitator visits when it acts alone it is clearly further from the expert than on
held-out states of its data, and its return ends below the goal.
Why it hurts: A small mistake leads to a state that no demonstration shows, where the next mistake is larger: errors
grow with the square of the horizon instead of linearly.
Evidence needed: imitation/disagreement and imitation/disagreement_data, evaluations, a goal or the expert's return.
Looks alike: An expert that contradicts itself, or data that are not fitted: then it errs on the data too.
What to change: Let the expert label the imitator's own states (DAgger instead of cloning), or more of them.
References: Ross et al. 2011 (arXiv 1011.0686); Spencer et al. 2021 (arXiv 2102.02872).
"""

from __future__ import annotations

from rlclinic.facts.imitation import imitation_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMI01",
    needs=("return/eval", "imitation/disagreement", "imitation/disagreement_data"),
    algorithms=("imitation",),
    covered_by=("IMI02", "IMI03", "IMI04", "IMI05", "IMI06"),
    causes={"covariate-shift-accumulates": 4.0, "expert-queries-too-few": 0.8, "mixing-decays-wrong": 0.8},
)


class Limits(RuleLimits):
    times: float = 2.0
    """Disagreement on own states against that on data."""
    least: float = 0.05
    """Difference of the two, in half ranges of the action or shares of states, below which it does not matter."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare own states with states of the data."""
    found = imitation_of(facts)
    if found is None or not found.short or found.disagreement is None or found.disagreement_data is None:
        return None
    own, data = found.disagreement, found.disagreement_data
    if own < max(limits.times * data, data + limits.least):
        return None
    summary = f"the imitator is {own:.2f} off the expert on its own states, {data:.2f} off on its data; {found.told}"
    bar = max(limits.times * data, data + limits.least)
    evidence = (
        facts.evidence("imitation/disagreement", own, bar, note="last third of the rounds"),
        facts.evidence("imitation/disagreement_data", data, note="held-out labels"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
