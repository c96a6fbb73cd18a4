"""The critic does not improve: its error stays the same share of the returns.

What it sees: The value loss, in relation to the variance of the returns (or to the squared return where no explained
variance is logged), is at the end at least 0.9 of what it was at the start, over 30 points or more, and the return is
flat.
Why it hurts: A critic that does not learn is no baseline. Its learning rate may be too low, its share of the loss too
small, or its inputs may not hold what the return depends on.
Evidence needed: value_loss with at least 30 points and a return.
Looks alike: A critic that was good from the start (a resumed run). Learning: the loss grows with the returns.
What to change: Raise the value-loss weight or the critic's learning rate by a factor of 3; check that the critic's
parameters are in the optimiser and that observations are not constant.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.4.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.critic import returns_vary
from rlclinic.facts.return_state import is_flat, return_name
from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule(
    "VAL10",
    needs=("value_loss", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.CRITIC,
)


class Limits(RuleLimits):
    not_falling: float = 0.9
    """Late over early error in relation to the returns."""
    nothing: float = 0.1
    """Explained variance between nothing (another rule) and good."""
    good: float = 0.5
    share: float = 0.2
    min_points: int = 30


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the relative error of the first and the last fifth."""
    loss, curve = facts.series("value_loss"), facts.curve
    early, late = facts.early("value_loss", limits.share), facts.late("value_loss", limits.share)
    if loss is None or curve is None or early is None or late is None or len(loss) < limits.min_points:
        return None
    if early.value <= 0.0 or not is_flat(facts) or curve.climbed or not returns_vary(facts, 1.0 - limits.share):
        return None
    known = facts.series("explained_variance") is not None
    ratio = _by_explained_variance(facts, limits) if known else _by_return(curve, early, late)
    if ratio is None or ratio < limits.not_falling:
        return None
    summary = (
        f"value loss went from {early.value:.3g} to {late.value:.3g}, {ratio:.2g} times its early share of the "
        f"returns' variance, while the return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence(
            "value_loss", ratio, limits.not_falling, level=late, note="relative error, last over first fifth"
        ),
        facts.evidence(return_name(facts), curve.gain, 3 * curve.scatter, note="gain from start to end"),
    )
    return RuleResult(Severity.WARNING, 0.5, summary, evidence, None)


def _by_explained_variance(facts: RunFacts, limits: Limits) -> float | None:
    """Growth of the unexplained share; None where another rule speaks, or the critic is good."""
    early, late = facts.early("explained_variance", limits.share), facts.late("explained_variance", limits.share)
    if early is None or late is None or not limits.nothing < late.value < limits.good:
        return None
    return (1.0 - late.value) / max(1.0 - early.value, 1e-3)


def _by_return(curve: ReturnCurve, early: WindowLevel, late: WindowLevel) -> float | None:
    """Growth of the loss over that of the squared return."""
    fifth = max(1, curve.values.size // 5)
    before = median(np.abs(curve.values[:fifth]))
    after = median(np.abs(curve.values[-fifth:]))
    if before <= 0.0 or after <= 0.0:
        return None
    # The squared level stands in for the variance; where it is not, the loss itself must not have fallen either.
    grown = after / before
    return min(late.value / early.value, late.value / early.value / grown / grown)
