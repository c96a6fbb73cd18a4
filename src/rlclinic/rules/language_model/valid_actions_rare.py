"""Hardly any action of the model can be parsed, or hardly any trajectory finishes.

What it sees: The share of valid actions, or of finished trajectories, is small from the start to the end of the run.
Why it hurts: What cannot be parsed earns nothing, so the reward says nothing about the task.
Evidence needed: valid_actions or finish_rate with at least 12 points.
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
    needs=("valid_actions|finish_rate",),
    algorithms=("language-model", "ppo"),
    causes={"implementation-bug": 4.0},
)


class Limits(RuleLimits):
    rare: float = 0.2
    """Share below which four of five attempts are lost."""
    learning: float = 1.5
    """Late over early share above which the format is being learned."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the share of what could be parsed."""
    for name in ("valid_actions", "finish_rate"):
        levels = change(facts, name)
        if levels is None or levels[1].value >= limits.rare or levels[1].value > 1.0:
            continue
        early, late = levels
        learning = is_progressing(facts) or (early.value > 0 and late.value > limits.learning * early.value)
        logged = facts.run.series[name].logged_as
        summary = f"{logged} is {late.value:.3g} at the end ({early.value:.3g} early); {told(facts)}"
        evidence = (facts.evidence(name, late.value, limits.rare, level=late, note="median of the last 15%"),)
        return RuleResult(Severity.INFO if learning else Severity.WARNING, 0.75, summary, evidence)
    return None
