"""Responses lose the form that the parser and the reward ask for.

What it sees: A part of the reward about the format, or the share of valid actions or drafts, loses a quarter and more
of its best level, and the score falls.
Why it hurts: What cannot be parsed earns nothing, right or wrong. The answers may still be there.
Evidence needed: a part of the reward about the format, valid_actions or format_failures with at least 12 points, and
the score.
Looks alike: Responses that are cut at the cap, which takes their end away; a form that was never there.
What to change: Read responses from before and after the fall; go back to the checkpoint before it, with a smaller step
or more KL; fine-tune on examples in the form first.
References: DeepSeek-AI 2025 (arXiv 2501.12948), format rewards; Jin et al. 2025 (Search-R1, arXiv 2503.09516).
"""

from __future__ import annotations

from rlclinic.facts.language_model import FORM_KEPT, form_lost, is_falling, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "LMR34",
    needs=("return/train", "reward/*|valid_actions|format_failures|format_failures/*"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    causes={"form-not-met": 3.6},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Compare the best with the late level of what tells the form."""
    lost = form_lost(facts)
    if lost is None or not facts.is_language_model or not is_falling(facts):
        return None
    series, best, late = lost
    summary = (
        f"{series.logged_as}: {100 * best:.3g}% of what can be were in form at best, {100 * late:.3g}% are at the end; "
        f"{told(facts)}"
    )
    evidence = (facts.evidence(series.name, late, FORM_KEPT * best, note="late level in form"),)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence)
