"""First drafts get worse while later ones are put right.

What it sees: The share of invalid drafts rises in the first round and falls, or stays below it, in the later ones,
while the score does not fall.
Why it hurts: The correction after a bad draft pays: the model learns to be corrected, not to write well.
Evidence needed: format_failures by round with at least 12 points each, and the score.
Looks alike: A form that is lost in every round; a first round that is the hardest all along.
What to change: Let a bad first draft cost more than a later one, and pay the final text only as much as its first
draft allows; compare the final texts with and without the correction.
References: Amodei et al. 2016 (arXiv 1606.06565), on rewards that pay for the repair of one's own damage.
"""

from __future__ import annotations

import re

from rlclinic.facts.language_model import SIGNIFICANT, ScoreChange, is_falling, score_change, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "LMR35",
    needs=("return/train", "format_failures/*"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    means=(Sign.REWARD_HACKING,),
    causes={"reward-hacking": 4.0},
)
ROUND = re.compile(r"round[_ ]?(\d+)", re.IGNORECASE)


class Limits(RuleLimits):
    many: float = 0.1
    """Share of invalid first drafts below which they do no harm."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the first round with those after it."""
    rounds: dict[int, tuple[str, ScoreChange]] = {}
    for name, series in facts.run.series.items():
        number = ROUND.search(series.logged_as) if name.startswith("format_failures/") else None
        change = score_change(series) if number else None
        if number and change is not None:
            rounds.setdefault(int(number[1]), (name, change))
    if len(rounds) < 2 or is_falling(facts):
        return None
    (name, first), *later = [rounds[number] for number in sorted(rounds)]
    if not first.rises or first.end < limits.many:
        return None
    if any(change.rises or change.end > first.end for _, change in later):
        return None
    ends = ", ".join(f"{change.start:.3g} to {change.end:.3g}" for _, change in later)
    summary = (
        f"invalid first drafts rose from {first.start:.3g} to {first.end:.3g}, later ones went from {ends}: correction "
        f"pays more than a good first draft; {told(facts)}"
    )
    evidence = (
        facts.evidence(name, first.errors, SIGNIFICANT, note="change of the first round in standard errors"),
        facts.evidence(name, first.end, limits.many, note="share of invalid first drafts"),
    )
    return RuleResult(Severity.WARNING, 0.75, summary, evidence)
