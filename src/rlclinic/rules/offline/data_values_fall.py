"""The values of the data rose and then fell for good: the critic overfits.

What it sees: The mean value of the steps in the data peaks in the middle of an offline run and loses a clear part of
its rise.
Why it hurts: A conservative loss goes on pushing values down once the data are fitted, those of the data too. The
policy of the peak is the one to use.
Evidence needed: q/mean with at least 12 points of an offline run.
Looks alike: Values that fall from the beginning because rewards are costs; values that swing.
What to change: Use the checkpoint at the peak, stop there, or make the network smaller; dropout helps too.
References: Kumar et al. 2021 (arXiv 2109.10813), section on overfitting.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.offline import is_offline, offline_of
from rlclinic.facts.q_values import q_series
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL05",
    needs=("q/mean",),
    algorithms=("q-learning", "continuous-q"),
    causes={"too-many-updates": 2.5, "conservatism-too-strong": 0.5},
)


class Limits(RuleLimits):
    fewest_points: int = 12
    peak_after: float = 0.1
    """Share of the run within which the peak lies, from and to."""
    peak_before: float = 0.75
    lost: float = 0.3
    """Of the rise to the peak."""
    steady: float = 0.75
    """Share of the steps after the peak that go down."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for a peak and a steady fall after it."""
    q, found = q_series(facts), offline_of(facts)
    if q is None or len(q) < limits.fewest_points or not is_offline(facts) or (found is not None and not found.short):
        return None
    values = np.convolve(q.values, np.ones(3) / 3, mode="valid")
    if not np.isfinite(values).all():
        return None
    top = int(values.argmax())
    where, rise = top / max(len(values) - 1, 1), float(values[top] - values[0])
    fall = float(values[top] - values[-1])
    if not limits.peak_after <= where <= limits.peak_before or rise <= 0 or fall < limits.lost * rise:
        return None
    if float(np.mean(np.diff(values[top:]) < 0)) < limits.steady:
        return None
    at = f"{100 * where:.0f}% of the run"
    summary = f"the mean value of the data rose to {values[top]:.4g} at {at} and fell to {values[-1]:.4g}"
    evidence = (
        facts.evidence(q.name, fall, limits.lost * rise, note="fall since the peak, against the rise before it"),
    )
    return RuleResult(Severity.WARNING, 0.65, summary, evidence, float(q.steps[min(top + 1, len(q) - 1)]))
