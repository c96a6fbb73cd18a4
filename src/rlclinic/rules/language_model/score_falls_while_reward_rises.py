"""The task score falls while the reward that is optimised rises.

What it sees: The reward after penalties rises and the raw score falls, both beyond their noise.
Why it hurts: The penalty (mostly the KL to the reference, summed over tokens) is larger than the score; the model
learns to make it small, most easily by short or empty answers.
Evidence needed: the raw score and the reward after penalties, with at least 12 points each.
Looks alike: Rewards that fall while the score rises: there the penalty grows, and the task is learned all the same.
What to change: Lower the coefficient of the KL inside the reward by a factor of ten or more, or move the KL out of the
reward into the loss (use_kl_loss), with a coefficient near 0.001.
References: Ziegler et al. 2019 (arXiv 1909.08593); verl runs of one project collapsed at coefficients of 0.05 and
0.02, not at 0.001.
"""

from __future__ import annotations

from rlclinic.facts.language_model import SIGNIFICANT, is_falling, score_change, training
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult, Sign

RULE = Rule(
    "LMR01",
    needs=("return/train", "reward/shaped"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    means=(Sign.REWARD_HACKING,),
)


def check(facts: RunFacts) -> RuleResult | None:
    """Compare the course of the shaped reward with that of the score."""
    score, shaped = training(facts), score_change(facts.series("reward/shaped"))
    if score is None or shaped is None or not score.falls or not shaped.rises or not is_falling(facts):
        return None
    coefficient = facts.setting("kl_coef")
    by = f" with a KL coefficient of {coefficient:.3g} in the reward" if coefficient else ""
    summary = (
        f"the score fell from {score.start:.3g} to {score.end:.3g} while the reward after penalties rose from "
        f"{shaped.start:.3g} to {shaped.end:.3g}{by}"
    )
    evidence = [
        facts.evidence("return/train", score.errors, -SIGNIFICANT, note="change of the score in standard errors"),
        facts.evidence("reward/shaped", shaped.errors, SIGNIFICANT, note="change of the reward in standard errors"),
    ]
    if coefficient:
        evidence.append(setting_evidence(facts, "kl_coef", coefficient, note="KL coefficient"))
    return RuleResult(Severity.ERROR, 0.9, summary, tuple(evidence))
