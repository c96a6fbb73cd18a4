"""The return rose to exactly zero and stays there: nothing is lost any more, and nothing is won.

What it sees: A return that began below zero, never was above it, and is exactly zero at the end, with episodes that
last as long as any.
Why it hurts: The agent learned to avoid what costs and found nothing that pays: to stand still is the best it knows.
Evidence needed: a return with at least 8 points, the last three of them exactly zero.
Looks alike: A task whose best return is zero, such as a cost that can be brought to nothing: there a goal says so.
What to change: Pay for progress towards the goal, or make the penalties smaller than what the goal pays, so that trying
is worth its price; start nearer to the goal.
References: Ng, Harada and Russell 1999 (potential-based shaping); Unity ML-Agents documentation, reward signals.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal import goal_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.rules.words import steps_text

RULE = Rule("ENV15", needs=("return/train|return/eval",), step=DecisionStep.REWARD)


class Limits(RuleLimits):
    fewest_points: int = 8
    zeros: float = 0.2
    """Share of the points, at the end, that must be exactly zero; at least three."""
    longest: float = 0.98
    """Share of the longest episodes that the last ones must last."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for a return that came up to zero and stayed."""
    returns, goal = facts.run.returns, goal_of(facts)
    if returns is None or (goal is not None and goal.level <= 0.0):
        return None
    steps, values = finite(returns)
    if values.size < limits.fewest_points or values.max() > 0.0 or values.min() >= 0.0:
        return None
    moving = np.flatnonzero(values)
    zeros = values.size - 1 - int(moving[-1])
    if zeros < max(3, limits.zeros * values.size) or not _lasts(facts, limits):
        return None
    since = float(steps[int(moving[-1]) + 1])
    summary = (
        f"{returns.logged_as} was as low as {values.min():.4g} and is exactly 0 since {steps_text(facts, since)}: "
        "nothing costs any more, and nothing pays"
    )
    evidence = (facts.evidence(returns.name, float(zeros), 3.0, note="points at the end that are exactly zero"),)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence, since)


def _lasts(facts: RunFacts, limits: Limits) -> bool:
    """Whether episodes last to their limit at the end, as far as lengths are logged."""
    lengths, late = facts.series("episode_length"), facts.late("episode_length")
    if lengths is None or late is None or lengths.highest is None:
        return True
    return late.value >= limits.longest * lengths.highest
