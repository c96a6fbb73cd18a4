"""Responses become very short while the score does not rise.

What it sees: The mean length falls to a fraction of what it was, and neither the score nor the validation rises.
Why it hurts: Short answers avoid penalties (a KL summed over tokens, a cost of length, a format that can be broken)
instead of earning the score.
Evidence needed: the response length and the score with at least 12 points.
Looks alike: A model that learns to stop rambling: there the score rises; answers of a task that needs one word.
What to change: Look at a few answers. Lower what is summed over tokens (kl_coef), pay nothing for empty answers, and
check the aggregation of the loss.
References: Liu et al. 2025 (Dr.GRPO, arXiv 2503.20783), length bias; verl runs with a KL coefficient of 0.05.
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_near_ceiling, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR20",
    needs=("response_length", "return/train"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    causes={"length-hacking": 3.5, "kl-reward-hacking": 0.8},
)


class Limits(RuleLimits):
    fraction: float = 0.35
    """Late over early length. Healthy runs that learned to be brief kept two thirds of it and more."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the late length with the early one, and ask the score."""
    levels = change(facts, "response_length")
    if levels is None or is_progressing(facts) or is_near_ceiling(facts):
        return None
    early, late = levels
    if early.value <= 0.0 or late.value >= limits.fraction * early.value:
        return None
    summary = f"responses shrank from {early.value:.3g} to {late.value:.3g} tokens; {told(facts)}"
    evidence = (
        facts.evidence(
            "response_length", late.value / early.value, limits.fraction, level=late, note="late over early length"
        ),
    )
    return RuleResult(Severity.WARNING, 0.75, summary, evidence)
