"""Every evaluation gives the same return, and training is as flat.

What it sees: All evaluations from the first to the last come to one number, to a few hundredths of what single episodes
differ by, on episodes that do differ, while the training return does not improve.
Why it hurts: The same episodes played by a policy that learns give other returns. This one does what it did before the
first update: its updates are lost, or so small that no action changes.
Evidence needed: return/eval with at least 5 points, and the spread of its episodes or a mean with digits; a training
return.
Looks alike: A policy that never arrives, whose every episode costs the same. An old copy that is evaluated while the
trained one improves (evaluation-of-old-policy). A policy that died. A solved task.
What to change: Compare the weights of the policy before and after one update. If they are equal, look at what the
optimiser holds; if they differ in the last digits, at the learning rate and the clips.
References: Andy Jones, Debugging RL, Without the Agonizing Pain; probe S0c (gradient flow).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.evaluations import evaluates_the_same
from rlclinic.facts.exploration import is_dead
from rlclinic.facts.return_state import is_flat, reached_goal
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("EVA09", needs=("return/train", "return/eval"), step=DecisionStep.UPDATE_SIZE)


class Limits(RuleLimits):
    same: float = 0.03
    """Of the spread of single episodes: what the means of a policy that acts the same may differ by."""
    chance: float = 0.5
    """Share of its start by which the training return of an unchanged policy may seem to move."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the largest and the smallest evaluation."""
    series, curve = facts.series("return/eval"), facts.curve
    if series is None or curve is None or facts.series("return/train") is None or reached_goal(facts):
        return None
    # The training return of an unchanged policy neither rises nor falls.
    by_chance = abs(curve.gain) < limits.chance * abs(curve.start)
    flat = is_flat(facts) and not curve.whole.is_sure_fall
    if not (flat or by_chance) or is_dead(facts) or not evaluates_the_same(facts, limits.same):
        return None
    steps, values = finite(series)
    span = float(np.ptp(values))
    summary = (
        f"{series.logged_as} went from {values[0]:.4g} to {values[-1]:.4g} over {values.size} evaluations, which "
        f"never differ by more than {span:.2g}; the training return is as flat"
    )
    evidence = (facts.evidence("return/eval", span, note="largest minus smallest evaluation"),)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence, float(steps[0]))
