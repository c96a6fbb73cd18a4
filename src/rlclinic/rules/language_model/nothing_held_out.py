"""Nothing is held out to judge by.

What it sees: A run of many updates that never logs a validation score. It is a warning where the training score rises
together with what games a reward: a length that changes by more than half, responses that drift to their cap, entropy
that is all but gone, or a part for right answers that does not rise.
Why it hurts: The training score is what is optimised. Whether the task is learned, or the verifier, cannot be told.
Evidence needed: at least 50 points of the training score and none of a validation.
Looks alike: A validation that is logged elsewhere: name its file with --metrics.
What to change: Hold out some hundred prompts and score them every 10 to 50 updates (verl: trainer.test_freq, TRL:
eval_steps).
References: Gao et al. 2023 (arXiv 2210.10760).
"""

from __future__ import annotations

from rlclinic.facts.language_model import gamed_unseen, training
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR18",
    needs=("return/train",),
    algorithms=("language-model",),
    step=DecisionStep.REWARD,
    causes={"validation-missing": 1.0},
)


class Limits(RuleLimits):
    many_points: int = 50
    """Updates after which a first validation is due."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for any held-out score."""
    score = training(facts)
    if score is None or score.points < limits.many_points or any("eval" in name for name in facts.run.series):
        return None
    summary = (
        f"{score.points} points of the training score (from {score.start:.3g} to {score.end:.3g}) and no validation: "
        "whether the task is learned, or only its reward, cannot be told"
    )
    moved = gamed_unseen(facts)
    if moved:
        summary += f"; meanwhile {moved}"
    evidence = (facts.evidence("return/train", float(score.points), float(limits.many_points), note="points"),)
    return RuleResult(Severity.WARNING if moved else Severity.INFO, 0.9, summary, evidence)
