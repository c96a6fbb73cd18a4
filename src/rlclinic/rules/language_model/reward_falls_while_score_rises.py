"""The task score rises while the reward that is optimised falls.

What it sees: The raw score rises and the reward after penalties falls, both beyond their noise.
Why it hurts: The penalty (mostly the KL to the reference, summed over tokens) grows faster than the score. The task is
still learned, but ever more of the objective is about the penalty, and it will win in the end.
Evidence needed: the raw score and the reward after penalties, with at least 12 points each.
Looks alike: A score that falls while the reward rises: there the penalty has won already.
What to change: Lower the coefficient of the KL inside the reward, or move the KL into the loss with a coefficient near
0.001. While the score rises there is no hurry.
References: Ziegler et al. 2019 (arXiv 1909.08593); verl documentation on the two KL paths.
"""

from __future__ import annotations

from rlclinic.facts.language_model import SIGNIFICANT, score_change, training
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "LMR13",
    needs=("return/train", "reward/shaped"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    causes={"kl-penalty-too-strong": 1.2},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Compare the course of the score with that of the shaped reward."""
    score, shaped = training(facts), score_change(facts.series("reward/shaped"))
    if score is None or shaped is None or not score.rises or not shaped.falls:
        return None
    summary = (
        f"the score rose from {score.start:.3g} to {score.end:.3g} while the reward after penalties fell from "
        f"{shaped.start:.3g} to {shaped.end:.3g}"
    )
    evidence = (
        facts.evidence("return/train", score.errors, SIGNIFICANT, note="change of the score in standard errors"),
        facts.evidence("reward/shaped", shaped.errors, -SIGNIFICANT, note="change of the reward in standard errors"),
    )
    return RuleResult(Severity.INFO, 0.6, summary, evidence)
