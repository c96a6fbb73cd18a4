"""The value loss grows by far more than the returns do.

What it sees: The value loss ends at ten times its early level or more, and at five times what the growth of the
squared return would explain, with a poor explained variance where that is logged, and a return that is flat or has
fallen.
Why it hurts: A critic whose error grows faster than its targets is diverging, or follows a policy that keeps
breaking; the advantages grow noisier with it.
Evidence needed: value_loss with at least 15 points and a return.
Looks alike: Learning: returns grow, and the loss with their square. Sparse tasks: the loss is zero before the first
reward.
What to change: Lower the critic's learning rate, clip gradients, normalise returns; if KL was high before, the policy
broke first and the critic only follows.
References: van Hasselt et al. 2016 (arXiv 1602.07714); Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.4.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.growth import growth
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median

RULE = Rule(
    "VAL07",
    needs=("value_loss", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.CRITIC,
    means=(Sign.CRITIC_DIVERGES,),
)


class Limits(RuleLimits):
    grown: float = 10.0
    """Late over early loss, and the same over the growth of the squared return."""
    unexplained: float = 5.0
    steady: float = 0.5
    """Rank correlation with time."""
    good: float = 0.5
    """Explained variance above which a large loss only mirrors large returns."""
    min_points: int = 15


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the growth of the loss with that of the squared return."""
    loss, curve = facts.series("value_loss"), facts.curve
    grown, explained = growth(loss), facts.late("explained_variance", 0.15)
    if loss is None or curve is None or grown is None or len(finite(loss)[0]) < limits.min_points:
        return None
    if explained is not None and explained.value > limits.good:
        return None
    expected = max(1.0, _growth_of_square(curve))
    unexplained = grown.factor / expected
    if (
        grown.factor < limits.grown
        or unexplained < limits.unexplained
        or grown.steadiness < limits.steady
        or not suffers(facts)
    ):
        return None
    summary = (
        f"value loss grew {grown.factor:.3g} times, from {grown.early.value:.3g} to {grown.late.value:.3g}, while the "
        f"return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("value_loss", grown.factor, limits.grown, level=grown.late, note="late over early level"),
        facts.evidence(
            "value_loss", unexplained, limits.unexplained, note="the same over the growth of the squared return"
        ),
    )
    return RuleResult(Severity.WARNING, 0.65, summary, evidence, grown.onset_step)


def _growth_of_square(curve: ReturnCurve) -> float:
    """Growth of the squared size of the return, from the first fifth to the largest later level."""
    early = curve.values[: max(1, curve.values.size // 5)]
    floor = max(median(np.abs(early)), curve.point_noise, 1e-12)
    grown = float(np.abs(curve.values).max()) / floor
    return grown * grown
