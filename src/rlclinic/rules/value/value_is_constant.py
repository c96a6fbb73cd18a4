"""The critic gives every state the same value.

What it sees: Explained variance that is zero to the last digit of a float in nearly every point, which is that of a
constant and of nothing else; or, where returns are of an ordinary size, zero to the fourth digit.
Why it hurts: The network does not see the state: its units are dead or saturated, its weights are all zero, or the
observations are constant. Advantages are then returns minus a number, and a policy with the same body learns nothing.
Evidence needed: explained_variance with at least 10 points, not rounded to a few digits.
Looks alike: A critic that explains next to nothing, but moves (critic-explains-nothing). Returns that are all equal,
whose explained variance is not a number. Returns so large that any value is nothing beside them.
What to change: Look at the activations: dead ReLUs and saturated units come from a large rate, a bad initialisation or
observations that are not normalised. Then print a batch of observations: do they differ?
References: Explained variance in OpenAI Baselines' and SB3's utilities: 1 - Var[return - value] / Var[return].
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.critic import has_critic, target_scale
from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("VAL12", needs=("explained_variance",), algorithms=("ppo", "actor-critic"), step=DecisionStep.CRITIC)


class Limits(RuleLimits):
    rounding: float = 5e-6
    """What is left of the explained variance of a constant: a few roundings of a 32-bit float."""
    nearly: float = 1e-4
    """The same of values that differ by less than a hundredth of what returns do, and the spread of returns up to
    which that says something: against larger ones the values of a healthy network are as good as a constant at
    first."""
    ordinary: float = 20.0
    huge: float = 1e3
    """Spread of returns beside which every value is a constant (returns-too-large-for-critic)."""
    most: float = 0.9
    fewest_points: int = 8


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the points at which the explained variance is that of a constant."""
    series = facts.series("explained_variance")
    # Printed with few digits, a small number is a zero too.
    if series is None or series.decimals is not None or not has_critic(facts):
        return None
    _, values = finite(series)
    if values.size < limits.fewest_points or not values.any():
        return None
    scale = target_scale(facts)
    if scale is not None and scale > limits.huge:
        return None
    bar = limits.nearly if scale is not None and scale <= limits.ordinary else limits.rounding
    share = float(np.mean(np.abs(values) < bar))
    if share < limits.most:
        return None
    summary = (
        f"{series.logged_as} is zero, within {bar:g}, at {100 * share:.0f}% of {values.size} points: the "
        "critic gives every state the same value"
    )
    evidence = (facts.evidence("explained_variance", share, limits.most, note="share of points that are zero"),)
    bad = failed(facts)
    return RuleResult(Severity.ERROR if bad else Severity.WARNING, 0.9 if bad else 0.8, summary, evidence, None)
