"""Nothing about the policy changes: neither what it earns nor how it answers.

What it sees: Score, entropy and response length all end where they began, within their noise, although groups differ in
reward and gradients are not zero.
Why it hurts: Updates reach the model and are too small to show: a learning rate orders of magnitude too low, or one
that a schedule keeps near zero.
Evidence needed: the score, entropy and response length with at least 40 points each, over updates.
Looks alike: A strong penalty for leaving the reference, groups without variance, a run of very few updates: nothing is
said there.
What to change: Raise the learning rate by factors of three to ten until the entropy or the KL begins to move.
References: DeepSeek-AI 2025 (arXiv 2501.12948), 3e-6; verl and TRL examples, 1e-6 to 5e-6.
"""

from __future__ import annotations

from rlclinic.facts.language_model import SIGNIFICANT, score_change, training, validation
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR32",
    needs=("return/train", "entropy", "response_length", "grad_norm"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.UPDATE_SIZE,
    causes={"learning-rate-too-low": 2.5},
)


class Limits(RuleLimits):
    fewest_points: int = 40
    moved: float = 0.05
    """Share of the early level by which a policy that learns changes its entropy or its length."""
    equal_groups: float = 0.5
    """Share of groups without variance above which there is nothing to learn from."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the beginning and the end of everything that a moving policy changes."""
    score, held_out = training(facts), validation(facts)
    if score is None or score.rises or score.falls or (held_out is not None and (held_out.rises or held_out.falls)):
        return None
    if not facts.is_language_model or facts.series("kl_ref") is not None:
        return None
    groups, gradient = facts.late("zero_variance_groups"), facts.late("grad_norm")
    if gradient is None or gradient.value <= 0 or (groups is not None and groups.value > limits.equal_groups):
        return None
    evidence = [facts.evidence("return/train", score.errors, SIGNIFICANT, note="change in standard errors")]
    for name in ("entropy", "response_length"):
        change = score_change(facts.series(name), limits.fewest_points)
        if change is None or abs(change.end - change.start) > limits.moved * abs(change.start):
            return None
        share = (change.end - change.start) / change.start if change.start else 0.0
        evidence.append(facts.evidence(name, share, limits.moved, note="change as a share of its start"))
    summary = f"score, entropy and length end where they began; the gradient norm is {gradient.value:.3g}, not zero"
    return RuleResult(Severity.WARNING, 0.7, summary, tuple(evidence))
