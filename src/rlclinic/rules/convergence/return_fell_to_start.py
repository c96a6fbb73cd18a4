"""The return was clearly better and fell back to where it began, or below.

What it sees: A clear climb of which less than 30 % is left at the end; or a level that held for the first fifth of
the run and ended clearly below itself (a pretrained or warm-started policy that was destroyed).
Why it hurts: Everything the run learned is lost; the last checkpoint is worthless.
Evidence needed: a return with at least 12 points.
Looks alike: Single successes on a sparse task. Costs that add up when episodes get longer (the return per step
improves). A curriculum that raised the difficulty. Penalties of
training alone: evaluations that hold their best show it.
What to change: Go back to the best checkpoint. Look at what moved first: KL and clip fraction (learning rate,
epochs), Q-values (target network, overestimation), entropy, non-finite values.
References: SB3 issue 324, openai/baselines issue 975 (collapse after the optimum, a lower learning rate helps).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlclinic.facts.costs import longer_episodes_cost_more
from rlclinic.facts.course import CLEAR, FELL_BELOW, Course, course_of
from rlclinic.facts.evaluations import evaluations_hold
from rlclinic.facts.goal import goal_of, reach_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.result import RuleResult
from rlclinic.rules.rule import Rule, Sign
from rlclinic.rules.words import steps_text

RULE = Rule("CNV05", needs=("return/train|return/eval",), means=(Sign.COLLAPSED, Sign.RETURN_FELL))


@dataclass(frozen=True, slots=True)
class Limits:
    """What the rule judges by."""

    left: float = 0.3
    """Share of the climb that may be left."""


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Loss:
    """What was lost."""

    level: float
    amount: float
    least: float
    words: str


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the end with the best and with the first level."""
    course, returns = course_of(facts), facts.run.returns
    if course is None or returns is None or not course.enough:
        return None
    loss = _lost_climb(course, limits) or _lost_start(course)
    if loss is None or longer_episodes_cost_more(facts):
        return None
    goal = goal_of(facts)
    reach = reach_of(facts, goal) if goal is not None else None
    if reach is not None and reach.held:
        return None
    onset = _onset(course, loss.level)
    began = steps_text(facts, onset)
    summary = f"{returns.logged_as} {loss.words} and ended at {course.end:.4g}; the fall began at {began}"
    evidence = (facts.evidence(returns.name, loss.amount, loss.least, note="level before the fall minus the end"),)
    if evaluations_hold(facts):
        return RuleResult(Severity.INFO, 0.5, summary + "; evaluations hold their best", evidence, onset)
    return RuleResult(Severity.WARNING, 0.85, summary, evidence, onset)


def _lost_climb(course: Course, limits: Limits) -> Loss | None:
    outcome = course.outcome
    least = CLEAR * course.unit
    if not course.climbed or course.drop < least or course.gain > limits.left * outcome.climb:
        return None
    words = f"climbed from {outcome.start:.4g} to {outcome.peak:.4g}"
    return Loss(outcome.peak, course.drop, least, words)


def _lost_start(course: Course) -> Loss | None:
    if not course.fell_below_start:
        return None
    level, least = course.established, max(CLEAR * course.unit, FELL_BELOW * course.span)
    return Loss(level, level - course.end, least, f"was at {level:.4g} or above for the first fifth of the run")


def _onset(course: Course, level: float) -> float:
    """Where the curve was last near the level from which it fell."""
    near = np.flatnonzero(course.outcome.curve >= level - 0.1 * (level - course.end))
    return float(course.outcome.steps[int(near[-1])])
