"""Responses grow under a loss that pays long wrong answers less than short ones.

What it sees: The loss is averaged within each response before it is averaged over responses, responses have grown by
half and more, and the score does not rise.
Why it hurts: A long wrong answer is punished less per token than a short one, so wrong answers grow.
Evidence needed: the aggregation of the loss, the response length and the score with at least 12 points.
Looks alike: Longer reasoning that earns more: there the score rises.
What to change: Average over tokens (verl: loss_agg_mode=token-mean, TRL: loss_type=dapo), or divide by a constant
(Dr.GRPO).
References: Liu et al. 2025 (Dr.GRPO, arXiv 2503.20783); Yu et al. 2025 (DAPO, arXiv 2503.14476).
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR25",
    needs=("response_length", "return/train", "config:loss_aggregation"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    causes={"loss-aggregation-biased": 3.0, "length-hacking": 0.8},
)
WITHIN_EACH = frozenset({"seq-mean-token-mean", "grpo"})


class Limits(RuleLimits):
    grew: float = 1.5
    """Late over early length."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the setting, then at length and score."""
    mode, levels = facts.run.config.get("loss_aggregation"), change(facts, "response_length")
    if mode not in WITHIN_EACH or levels is None or is_progressing(facts):
        return None
    early, late = levels
    if early.value <= 0.0 or late.value < limits.grew * early.value:
        return None
    key = facts.run.config.settings["loss_aggregation"].native_key
    summary = f"responses grew from {early.value:.3g} to {late.value:.3g} tokens with {key}={mode}; {told(facts)}"
    evidence = (
        facts.evidence(
            "response_length", late.value / early.value, limits.grew, level=late, note="late over early length"
        ),
    )
    return RuleResult(Severity.WARNING, 0.6, summary, evidence)
