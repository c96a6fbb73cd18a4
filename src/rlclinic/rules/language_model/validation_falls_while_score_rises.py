"""The training score rises and the validation score falls.

What it sees: The training score rises beyond its noise, and validation falls beyond its own.
Why it hurts: What is learned earns reward and undoes the task: a verifier that is fooled, memorised answers, or a
policy that left its reference. The longer it trains, the worse it gets.
Evidence needed: the training score with at least 12 points and at least 4 validations.
Looks alike: Single bad validations: the change is held against the scatter from one validation to the next.
What to change: Go back to the checkpoint of the best validation. Read what scores high in training and wrong in
validation, tighten the verifier, and hold the policy nearer to its reference.
References: Gao et al. 2023 (arXiv 2210.10760); greyhaven-ai/autocontext PR #1076 (beta forced to 0).
"""

from __future__ import annotations

from rlclinic.facts.language_model import SIGNIFICANT, memorised, training, validation
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "LMR27",
    needs=("return/train", "return/eval"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    means=(Sign.REWARD_HACKING,),
    causes={"reward-hacking": 4.0, "kl-penalty-too-weak": 0.8},
)


class Limits(RuleLimits):
    material: float = 0.05
    """Share of the early validation that must be lost: less is a matter of which checkpoint is kept."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the directions of training and validation."""
    score, held_out = training(facts), validation(facts)
    if score is None or held_out is None or not score.rises or not held_out.falls or memorised(facts):
        return None
    if held_out.start - held_out.end < limits.material * abs(held_out.start):
        return None
    summary = (
        f"the training score rose from {score.start:.3g} to {score.end:.3g} while {held_out.points} validations fell "
        f"from {held_out.start:.3g} to {held_out.end:.3g}"
    )
    evidence = (
        facts.evidence("return/train", score.errors, SIGNIFICANT, note="change of the score in standard errors"),
        facts.evidence("return/eval", held_out.errors, -SIGNIFICANT, note="change of validation in standard errors"),
    )
    return RuleResult(Severity.WARNING, 0.8, summary, evidence)
