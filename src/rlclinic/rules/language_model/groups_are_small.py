"""So few responses per prompt that their mean is no baseline.

What it sees: Two or three responses per prompt, and a score that does not rise.
Why it hurts: The advantage of a response is its reward minus the mean of its group. Of two or three responses that
mean is nearly as noisy as the reward, and most groups are all right or all wrong.
Evidence needed: the group size, and the score with at least 12 points.
Looks alike: RLOO with two samples and a large batch of prompts on an easy task: there the score rises.
What to change: 8 to 16 responses per prompt, with fewer prompts if memory is short.
References: Shao et al. 2024 (GRPO, arXiv 2402.03300), 64 samples; Ahmadian et al. 2024 (RLOO, arXiv 2402.14740).
"""

from __future__ import annotations

from rlclinic.facts.language_model import is_near_ceiling, is_progressing, told, training
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR26",
    needs=("return/train", "config:group_size"),
    algorithms=("language-model",),
    step=DecisionStep.ADVANTAGES,
    causes={"group-too-small": 2.6},
)


class Limits(RuleLimits):
    enough: float = 4.0
    """Responses per prompt from which on their mean says something; most recipes have 8 and more."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the group size of a run that does not rise."""
    size = positive(facts, "group_size")
    if size is None or not 2.0 <= size < limits.enough or training(facts) is None:
        return None
    if is_progressing(facts) or is_near_ceiling(facts):
        return None
    summary = f"{size:.0f} responses per prompt; {told(facts)}"
    evidence = (setting_evidence(facts, "group_size", size, limits.enough, note="responses per prompt"),)
    return RuleResult(Severity.WARNING, 0.5, summary, evidence)
