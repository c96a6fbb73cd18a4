"""Responses become much longer or much shorter without a better score.

What it sees: The mean response length changed by half or more against the early part of the run while neither score
nor validation rose.
Why it hurts: Length is the easiest thing to change. Growth without score costs compute and ends at the cap; shrinking
without score gives up on reasoning.
Evidence needed: response_length and the score with at least 12 points each.
Looks alike: Rambling that is unlearned, or reasoning that is learned: there the score moves with the length.
What to change: For growth: average the loss over tokens (or as in Dr. GRPO), mask or mildly penalise overlong answers.
For shrinking: look for a penalty that is paid per token, above all a KL inside the reward.
References: Liu et al. 2025 (Dr. GRPO, arXiv 2503.20783); Yu et al. 2025 (DAPO, arXiv 2503.14476).
"""

from __future__ import annotations

from rlclinic.facts.language_model import (
    change,
    is_falling,
    is_progressing,
    part_given_up,
    told,
    training,
    validation_lags,
)
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, lasting_from
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("LMR06", needs=("response_length", "return/train"), algorithms=("language-model", "ppo"))


class Limits(RuleLimits):
    longer: float = 1.6
    """Late over early length; both count the same on a logarithmic scale, or its inverse."""
    beyond_noise: float = 4.0
    """Robust spreads of the early length that the change must exceed."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the change of the length with the score."""
    series, levels = facts.series("response_length"), change(facts, "response_length")
    if series is None or levels is None or training(facts) is None:
        return None
    if is_progressing(facts) and not validation_lags(facts) and part_given_up(facts) is None:
        return None
    early, late = levels
    if early.value <= 0 or 1 / limits.longer < (ratio := late.value / early.value) < limits.longer:
        return None
    if abs(late.value - early.value) < limits.beyond_noise * early.spread:
        return None
    word = "longer" if ratio > 1 else "shorter"
    summary = f"responses became {word}, from {early.value:.4g} to {late.value:.4g} tokens, while {told(facts)}"
    bar = limits.longer if ratio > 1 else 1 / limits.longer
    evidence = (facts.evidence("response_length", ratio, bar, level=late, note="late over early length"),)
    steps, values = finite(series)
    beyond = values >= bar * early.value if ratio > 1 else values <= bar * early.value
    worse = is_falling(facts) or validation_lags(facts) or part_given_up(facts) is not None
    confidence = 0.8 if worse else 0.55
    return RuleResult(Severity.WARNING, confidence, summary, evidence, lasting_from(steps, beyond))
