"""The two critics disagree by a large part of the Q values themselves.

What it sees: The distance of the twin Q values, or of their means, is a large part of the size of Q over the last
part of the run, and larger than earlier.
Why it hurts: The smaller of two critics guards against overestimation only while both are estimates of the same
thing. Critics that drift apart pull the policy towards the errors of one of them.
Evidence needed: q/spread, or q1/mean and q2/mean, with at least 12 points, and a Q value to hold it against.
Looks alike: Q near zero, where any distance is a large share: the size of the return counts there. Means that agree
say little, because pointwise differences cancel.
What to change: Check that both critics are in the optimiser with the same learning rate and see the same targets;
lower the learning rate of the critics. Do not start both from the same weights: they would stay identical.
References: Fujimoto et al. 2018 (arXiv 1802.09477), section 4.2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlclinic.facts.goal_status import failed
from rlclinic.facts.growth import growth
from rlclinic.facts.q_values import q_series
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("OFF02", needs=("q/spread|q2/mean",), algorithms=("continuous-q",), step=DecisionStep.CRITIC)


class Limits(RuleLimits):
    apart: float = 0.3
    """Share of the size of Q; twin critics of working SAC and TD3 runs stay within a few percent."""
    opened: float = 3.0
    """Late over early distance: a gap that was there from the start is closing, not opening."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the distance of the critics against the size of Q and of the return."""
    gap, q = _gap(facts), q_series(facts)
    grown, size = growth(gap), growth(q)
    if gap is None or grown is None or size is None or grown.factor < limits.opened:
        return None
    scale = max(size.late.value, _return_scale(facts))
    share = grown.late.value / max(scale, 1e-12)
    if share < limits.apart:
        return None
    summary = (
        f"the twin critics are {grown.late.value:.3g} apart, {100 * share:.0f}% of the size of Q and of the return's "
        f"spread ({scale:.3g}); early in the run the distance was {grown.early.value:.3g}"
    )
    evidence = (
        facts.evidence(gap.name, share, limits.apart, level=grown.late, note="distance over scale, last 10%"),
        facts.evidence(gap.name, grown.factor, limits.opened, level=grown.early, note="late over early distance"),
    )
    severity = Severity.WARNING if failed(facts) else Severity.INFO
    return RuleResult(severity, 0.6, summary, evidence, grown.onset_step)


def _gap(facts: RunFacts) -> Series | None:
    spread = facts.series("q/spread")
    if spread is not None:
        return spread
    first, second = facts.series("q1/mean"), facts.series("q2/mean")
    if first is None or second is None:
        return None
    steps, mine, theirs = np.intersect1d(first.steps, second.steps, return_indices=True)
    one, two = first.values[mine], second.values[theirs]
    both = np.isfinite(one) & np.isfinite(two)
    return replace(first, steps=steps[both], values=np.abs(one[both] - two[both]), wall_times=None)


def _return_scale(facts: RunFacts) -> float:
    curve = facts.curve
    if curve is None:
        return 0.0
    return max(abs(curve.best - curve.start), curve.point_noise)
