"""Most trajectories end before they give an answer.

What it sees: The share of finished trajectories is low to the end, and the score does not rise.
Why it hurts: What has no answer earns nothing, whatever was done on the way.
Evidence needed: the share of finished trajectories with at least 12 points.
Looks alike: An early run that learns to finish, where the share rises.
What to change: More turns or tokens per trajectory, or a shorter observation; check the tags that end an answer.
References: Jin et al. 2025 (Search-R1, arXiv 2503.09516), env/finish_ratio.
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR24",
    needs=("finish_rate",),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.ENVIRONMENT,
    causes={"responses-truncated": 2.4},
)


class Limits(RuleLimits):
    few: float = 0.3
    """Share of finished trajectories below which most of the batch teaches nothing."""
    rises: float = 1.5
    """Late over early share from which on the model learns to finish."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the late share and its change."""
    levels = change(facts, "finish_rate")
    if levels is None or is_progressing(facts):
        return None
    early, late = levels
    if late.value >= limits.few or late.value >= limits.rises * max(early.value, 1e-9):
        return None
    summary = f"{100 * late.value:.3g}% of the trajectories finish ({100 * early.value:.3g}% early on); {told(facts)}"
    evidence = (facts.evidence("finish_rate", late.value, limits.few, level=late, note="median of the last 15%"),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
