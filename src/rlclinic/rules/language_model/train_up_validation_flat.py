"""The training score rises and the validation score does not.

What it sees: The training score rises beyond its noise while at least six validations stay flat.
Why it hurts: What is learned earns reward on the training prompts only: memorised answers, a verifier that can be
fooled, or a reward that is not the task.
Evidence needed: the training score with at least 12 points and at least 6 validations.
Looks alike: Validation that is already near its ceiling; a validation set so hard that it moves later; few, noisy
validations.
What to change: Read samples that score high in training and wrong in validation; tighten the verifier; mix more
prompts; stop at the best validation.
References: Gao et al. 2023 (arXiv 2210.10760); Amodei et al. 2016 (arXiv 1606.06565).
"""

from __future__ import annotations

from rlclinic.facts.language_model import SIGNIFICANT, memorised, passes, training, validation, validation_lags
from rlclinic.facts.return_state import has_fallen
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR10", needs=("return/train", "return/eval"), algorithms=("language-model", "ppo"), step=DecisionStep.REWARD
)


class Limits(RuleLimits):
    clear_gain: float = 0.2
    """Relative gain of the training score that makes a flat validation odd."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the courses of training and validation."""
    score, held_out = training(facts), validation(facts)
    if not facts.is_language_model or score is None or held_out is None:
        return None
    if not score.rises or has_fallen(facts) or not validation_lags(facts):
        return None
    gain = (score.end - score.start) / max(abs(score.start), abs(score.end), 1e-12)
    if held_out.falls or gain < limits.clear_gain:
        return None
    times = f"over {passes(facts):.3g} passes through the prompts " if memorised(facts) else ""
    summary = (
        f"{times}the training score rose from {score.start:.3g} to {score.end:.3g} while {held_out.points} validations "
        f"stayed from {held_out.start:.3g} to {held_out.end:.3g}"
    )
    evidence = (
        facts.evidence("return/train", score.errors, SIGNIFICANT, note="change of the score in standard errors"),
        facts.evidence("return/eval", held_out.errors, SIGNIFICANT, note="change of validation in standard errors"),
    )
    return RuleResult(Severity.WARNING, 0.55, summary, evidence)
