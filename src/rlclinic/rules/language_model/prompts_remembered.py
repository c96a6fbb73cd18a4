"""The training prompts are learned by heart: their score rises pass after pass, that of held-out prompts falls.

What it sees: The training score rises beyond its noise over at least two passes through the prompts, validation falls,
and nothing shows that the reward is gamed: no part of it was given up, and the length of responses stays.
Why it hurts: Answers that are remembered are paid like answers that are worked out. Each further pass pays for less.
Evidence needed: the training score with at least 12 points, at least 4 validations, and the epoch.
Looks alike: A verifier that is fooled, which needs no second pass and leaves traces in length or in parts of the
reward; validation prompts of another kind or difficulty.
What to change: Go back to the checkpoint of the best validation and stop there; train on more prompts, in fewer passes;
hold the policy nearer to its reference.
References: Wang et al. 2025 (one example in many passes, arXiv 2504.20571); Gao et al. 2023 (arXiv 2210.10760).
"""

from __future__ import annotations

from rlclinic.facts.language_model import REPEATED, SIGNIFICANT, memorised, passes, training, validation
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult, Sign

RULE = Rule(
    "LMR33",
    needs=("return/train", "return/eval", "epoch"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    means=(Sign.UNSTABLE, Sign.EVALUATION_DIFFERS, Sign.EVALUATION_FELL_BEHIND),
)


def check(facts: RunFacts) -> RuleResult | None:
    """Hold the two scores and the passes against each other."""
    score, held_out, times = training(facts), validation(facts), passes(facts)
    if score is None or held_out is None or times is None or not (held_out.falls and memorised(facts)):
        return None
    summary = (
        f"over {times:.3g} passes through the prompts the training score rose from {score.start:.3g} to "
        f"{score.end:.3g} while {held_out.points} validations fell, from {held_out.start:.3g} to {held_out.end:.3g}"
    )
    evidence = (
        facts.evidence("epoch", times, REPEATED, note="passes through the prompts"),
        facts.evidence("return/train", score.errors, SIGNIFICANT, note="change of the score in standard errors"),
        facts.evidence("return/eval", held_out.errors, -SIGNIFICANT, note="change of validation in standard errors"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
