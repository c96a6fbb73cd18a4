"""Observations have another form than their space promises.

What it sees: The shape or dtype of observations is not that of the space, or a good part of them lies outside its
bounds.
Why it hurts: Trainers scale and encode by the space: a value outside is clipped, or a pixel is divided by 255 that
was none.
Evidence needed: an examination, or a training that was watched with Observe.
Looks alike: Bounds that were guessed a little too narrow: a few steps outside are a note.
What to change: Declare the space that the observations have, or bring them into it.
References: Gymnasium check_env; SB3 check_env.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV33",
    needs=("environment:problems",),
    step=DecisionStep.ENVIRONMENT,
    causes={"observation-corrupted": 6.0},
)


class Limits(RuleLimits):
    many: float = 0.5
    """Share of steps outside the bounds from which on it is more than a note."""
    few: float = 0.001
    """Share that is worth a note."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at form and bounds."""
    env = facts.measured
    broken = next((problem for problem in env.problems if problem.kind == "breaks-contract"), None)
    if broken is not None:
        summary = f"{broken.where} returned {broken.message}"
        return RuleResult(Severity.ERROR, 0.9, summary, (measured("form", 1.0, 0.0),))
    share = env.observation.outside if env.observation is not None else 0.0
    if share < limits.few:
        return None
    summary = f"{100 * share:.3g}% of the observations lie outside the bounds of their space"
    # Trainers look at the bounds of pictures and of choices; those of a vector are seldom more than a guess.
    used = env.observation is not None and env.observation.kind != "box"
    severity = Severity.WARNING if used and share >= limits.many else Severity.INFO
    confidence = 0.8 if severity is Severity.WARNING else 0.3
    return RuleResult(severity, confidence, summary, (measured("share outside", share, limits.many, env.steps),))
