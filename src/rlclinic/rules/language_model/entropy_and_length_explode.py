"""Entropy runs away upwards, with length, while the score falls.

What it sees: Entropy is well above its early level, responses do not get shorter, and the score falls.
Why it hurts: The model has lost its language: it samples ever more unlikely tokens until the cap.
Evidence needed: entropy and the score with at least 12 points; response_length where logged.
Looks alike: A mild rise of entropy in a model that was fine-tuned to be too sure, with a score that rises.
What to change: Lower the upper clip or the learning rate, mask overlong responses, drop the entropy bonus, add a KL to
the reference; check that sampler and trainer agree on probabilities.
References: rllm-org/rllm#116; verl-project/verl#1066, #2738.
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_falling, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, lasting_from
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR07", needs=("entropy", "return/train"), algorithms=("language-model", "ppo"), step=DecisionStep.EXPLORATION
)


class Limits(RuleLimits):
    grew: float = 1.5
    """Late over early entropy."""
    not_shorter: float = 0.9
    """Late over early length below which the model shrinks rather than rambles."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare entropy and length with the score."""
    series, levels = facts.series("entropy"), change(facts, "entropy")
    if not facts.is_language_model or series is None or levels is None or not is_falling(facts):
        return None
    early, late = levels
    if early.value <= 0 or late.value < limits.grew * early.value:
        return None
    lengths = change(facts, "response_length")
    if lengths is not None and lengths[1].value < limits.not_shorter * lengths[0].value:
        return None
    longer = f" and length from {lengths[0].value:.4g} to {lengths[1].value:.4g} tokens" if lengths is not None else ""
    summary = f"entropy rose from {early.value:.3g} to {late.value:.3g}{longer} while {told(facts)}"
    evidence = [
        facts.evidence("entropy", late.value / early.value, limits.grew, level=late, note="late over early entropy"),
    ]
    if lengths is not None:
        ratio = lengths[1].value / max(lengths[0].value, 1e-12)
        evidence.append(facts.evidence("response_length", ratio, limits.not_shorter, note="late over early length"))
    steps, values = finite(series)
    onset = lasting_from(steps, values >= limits.grew * early.value)
    return RuleResult(Severity.WARNING, 0.8, summary, tuple(evidence), onset)
