"""Every return of the run is zero.

What it sees: All logged returns, training and evaluation, are exactly zero.
Why it hurts: Without a reward that differs between episodes there is nothing to learn from; advantages are noise of
the critic.
Evidence needed: at least 3 returns; at least 12 for more than a note.
Looks alike: The first part of a run on a task whose reward is rarely found; a return printed with so few decimals that
small rewards read as zero; a reward whose parts cancel out.
What to change: Run random actions and a scripted policy and print the rewards. If those also see zero, the reward
function or its units are wrong; if only the scripted policy sees one, shape the reward, start nearer to the goal, or
add demonstrations.
References: rail-berkeley/softlearning#76; rail-berkeley/rlkit#97; Andrychowicz et al. 2017 (arXiv 1707.01495).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal import is_early
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import rounding
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.rules.words import steps_text

RULE = Rule("ENV04", needs=("return/train|return/eval",), step=DecisionStep.REWARD)


class Limits(RuleLimits):
    fewest_points: int = 3
    enough_points: int = 12


LIMITS = Limits()
RETURNS = ("return/train", "return/eval", "return/train_max", "return/train_min")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """See whether every return is zero."""
    found = [series for name in RETURNS if (series := facts.series(name)) is not None]
    main = facts.run.returns
    if main is None or not found or not all(_is_zero(series) for series in found):
        return None
    points = sum(int(np.isfinite(series.values).sum()) for series in found[:2])
    if points < limits.fewest_points:
        return None
    enough = points >= limits.enough_points and not is_early(facts)
    floor = rounding(main)
    below = f" (printed with {main.decimals} decimals: smaller than {floor:.3g})" if floor else ""
    summary = (
        f"all {points} logged returns are zero{below} over {steps_text(facts, facts.run.steps)}: no reward was seen"
    )
    evidence = (facts.evidence(main.name, 0.0, floor, note=f"largest size of {points} returns"),)
    severity = Severity.WARNING if enough else Severity.INFO
    return RuleResult(severity, 0.85 if enough else 0.6, summary, evidence)


def _is_zero(series: Series) -> bool:
    values = series.values[np.isfinite(series.values)]
    return bool(np.all(np.abs(values) <= rounding(series)))
