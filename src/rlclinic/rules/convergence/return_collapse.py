"""The return was clearly better and fell back to where it began, or below.

What it sees: A clear climb of which less than 30% is left at the end; or a level that held for the first fifth of
the run and ended clearly below itself (a pretrained or warm-started policy that was destroyed).
Why it hurts: Everything the run learned is lost; the last checkpoint is worthless.
Evidence needed: a return with at least 12 points.
Looks alike: Noise: no stretch of the run surely falls. Single successes on a sparse task. Costs that add up when
episodes get longer (the return per step improves). A curriculum that raised the difficulty. Penalties of training
alone: evaluations that hold their best show it.
What to change: Go back to the best checkpoint. Look at what moved first: KL and clip fraction (learning rate,
epochs), Q-values (target network, overestimation), entropy, non-finite values.
References: SB3 issue 324, openai/baselines issue 975 (collapse after the optimum, a lower learning rate helps).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.costs import longer_episodes_cost_more
from rlclinic.facts.evaluations import evaluations_hold
from rlclinic.facts.goal import goal_reached
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.return_curve import FELL_BELOW, ReturnCurve
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign
from rlclinic.rules.words import first_level_words, steps_text

RULE = Rule("CNV05", needs=("return/train|return/eval",), means=(Sign.COLLAPSED, Sign.RETURN_FELL))


class Limits(RuleLimits):
    left: float = 0.3
    """Share of the climb that may be left."""
    most_of_it: float = 0.4
    """Share of the size of the first level that must be gone where the return never climbed."""


LIMITS = Limits()


# Points of a language model, each the mean of hundreds of responses, that can show a collapse.
FEWEST = 6


@dataclass(frozen=True, slots=True)
class Loss:
    """What was lost."""

    level: float
    amount: float
    least: float
    words: str


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the end with the best and with the first level."""
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or not (curve.enough or (facts.is_language_model and curve.points >= FEWEST)):
        return None
    loss = _lost_climb(curve, limits)
    if loss is None and not longer_episodes_cost_more(facts):
        # Longer episodes that cost more explain a decline, but not the loss of what had been won.
        loss = _lost_start(curve, limits)
    if loss is None:
        return None
    reached = goal_reached(facts)
    if reached is not None and reached.held:
        return None
    onset = _onset(curve, loss.level)
    began = steps_text(facts, onset)
    summary = f"{returns.logged_as} {loss.words} and ended at {curve.final:.4g}; the fall began at {began}"
    evidence = (facts.evidence(returns.name, loss.amount, loss.least, note="level before the fall minus the end"),)
    if evaluations_hold(facts):
        return RuleResult(Severity.INFO, 0.5, summary + "; evaluations hold their best", evidence, onset)
    if not curve.surely_lost:
        return RuleResult(Severity.INFO, 0.5, summary + ", which may be noise", evidence, onset)
    return RuleResult(Severity.WARNING, 0.85, summary, evidence, onset)


def _lost_climb(curve: ReturnCurve, limits: Limits) -> Loss | None:
    least = curve.least_fall
    if not curve.climbed or curve.drop < least or curve.gain > limits.left * curve.climb:
        return None
    words = f"climbed from {curve.start:.4g} to {curve.best:.4g}"
    return Loss(curve.best, curve.drop, least, words)


def _lost_start(curve: ReturnCurve, limits: Limits) -> Loss | None:
    if not curve.fell_below_start or curve.decline < limits.most_of_it or curve.declined_from_the_first:
        return None
    level, least = curve.first_level, max(curve.doubt, FELL_BELOW * curve.span)
    return Loss(level, level - curve.final, least, first_level_words(curve))


def _onset(curve: ReturnCurve, level: float) -> float:
    """Where the curve was last near the level from which it fell."""
    near = np.flatnonzero(curve.values >= level - 0.1 * (level - curve.final))
    return float(curve.steps[int(near[-1])])
