"""Hardly any action of the model can be parsed, or hardly any trajectory finishes.

What it sees: The share of valid actions, or of finished trajectories, is small from the start to the end of the run.
Why it hurts: What cannot be parsed earns nothing, so the reward says nothing about the task.
Evidence needed: valid_actions, finish_rate or format_failures with at least 12 points.
Looks alike: A model that learns the format, where the share rises with the score.
What to change: Compare the tags that the prompt asks for with those that the parser looks for; check the stop tokens
and the turn limit; start from a model that was fine-tuned on the format.
References: PeterGriffinJin/Search-R1 generation.py; a run that began at a share of 0.029 had the wrong parser.
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR12",
    needs=("valid_actions|finish_rate|format_failures",),
    algorithms=("language-model", "ppo"),
    causes={"form-not-met": 4.5},
)


class Limits(RuleLimits):
    rare: float = 0.2
    """Share below which four of five attempts are lost."""
    early: float = 0.5
    """Early share above which most could be parsed."""
    learning: float = 1.5
    """Late over early share above which the format is being learned."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the share of what could be parsed."""
    for name in ("valid_actions", "finish_rate", "format_failures"):
        levels = change(facts, name)
        if levels is None:
            continue
        early, late = (1.0 - level.value if name == "format_failures" else level.value for level in levels)
        # What was in form before is lost, not rare.
        if not 0.0 <= late < limits.rare or early > limits.early:
            continue
        learning = is_progressing(facts) or (early > 0 and late > limits.learning * early)
        logged = facts.run.series[name].logged_as
        summary = f"{logged}: {late:.3g} count at the end ({early:.3g} early); {told(facts)}"
        evidence = (facts.evidence(name, late, limits.rare, note="share that counts, median of the last 15%"),)
        return RuleResult(Severity.INFO if learning else Severity.WARNING, 0.75, summary, evidence)
    return None
