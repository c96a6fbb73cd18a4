"""The model stops using its tool, and the score does not rise.

What it sees: The number of turns falls towards one answer without a call, while the score and the validation stand
still or fall.
Why it hurts: Answering at once is safer than a call that may fail; what the tool could have given is lost.
Evidence needed: turns with at least 12 points, and the score.
Looks alike: A model that learns to do with fewer calls: there the score rises.
What to change: Look at calls that failed and what they cost; do not punish a call by itself; warm up with examples
that call.
References: Jin et al. 2025 (Search-R1, arXiv 2503.09516); Feng et al. 2025 (ReTool, arXiv 2504.11536).
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_near_ceiling, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR23",
    needs=("turns", "return/train"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.ENVIRONMENT,
    causes={"reward-hacking": 4.0, "entropy-collapse-llm": 0.8},
)


class Limits(RuleLimits):
    kept: float = 0.3
    """Share of the turns beyond the first that must be left."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the turns beyond the first, early and late."""
    levels, series = change(facts, "turns"), facts.series("turns")
    if levels is None or series is None or is_progressing(facts) or is_near_ceiling(facts):
        return None
    early, late = levels
    # Some frameworks count the messages of both sides: one exchange is then two.
    single = 2.0 if series.caveat else 1.0
    before, after = early.value - single, late.value - single
    if before < 0.5 or after > limits.kept * before:
        return None
    summary = f"turns fell from {early.value:.3g} to {late.value:.3g}: the tool is hardly called; {told(facts)}"
    evidence = (
        facts.evidence("turns", max(after, 0.0) / before, limits.kept, level=late, note="late over early, beyond one"),
    )
    return RuleResult(Severity.WARNING, 0.65, summary, evidence)
