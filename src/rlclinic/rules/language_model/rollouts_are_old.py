"""Responses were sampled by a policy several updates old, and the score does not rise.

What it sees: The lag between the sampling and the trained policy is several updates.
Why it hurts: The ratio of the two policies leaves the range in which the loss means anything; clipping then discards
most of the signal.
Evidence needed: the policy lag with at least 12 points.
Looks alike: Asynchronous training by design with a lag of one or two updates and a corrected ratio.
What to change: Lower the allowed staleness, use fewer mini-batches per rollout, or correct by truncated importance
weights.
References: AReaL (arXiv 2505.24298), staleness-aware training; verl documentation on rollout correction.
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR21",
    needs=("policy_lag",),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.UPDATE_SIZE,
    causes={"stale-data": 3.0, "sampler-trainer-mismatch": 0.6},
)


class Limits(RuleLimits):
    old: float = 4.0
    """Updates. AReaL saw no loss up to about 4 with its corrected objective, and a clear one without."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the late lag."""
    levels = change(facts, "policy_lag")
    if levels is None or levels[1].value < limits.old or is_progressing(facts):
        return None
    late = levels[1]
    summary = f"responses are {late.value:.3g} updates old when they are trained on; {told(facts)}"
    evidence = (facts.evidence("policy_lag", late.value, limits.old, level=late, note="median of the last 15%"),)
    return RuleResult(Severity.WARNING, 0.65, summary, evidence)
