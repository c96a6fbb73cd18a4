"""The last evaluation is far above the ones before it.

What it sees: The last evaluation return clearly exceeds every earlier one and lies far outside the scatter of the
recent ones, which show no rise that leads there.
Why it hurts: Quoted as the result of the run it promises more than the policy holds.
Evidence needed: at least 8 evaluations.
Looks alike: A real jump at the very end; only more evaluations tell.
What to change: Evaluate the last checkpoint again with more episodes (30 or more), and quote the mean of several
evaluations.
References: Henderson et al. 2018 (arXiv 1709.06560); Agarwal et al. 2021 (arXiv 2108.13264).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.window_noise import deviation
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule("CNV07", needs=("return/eval",))


class Limits(RuleLimits):
    fewest_points: int = 8
    recent: int = 6
    """Evaluations before the last one that make up its recent past."""
    far: float = 4.0
    """Robust standard deviations of the recent evaluations."""
    material: float = 0.3
    """Share of the range of all earlier evaluations."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the last evaluation with its recent past."""
    series = facts.series("return/eval")
    if series is None or series.caveat:
        return None
    values = series.values[np.isfinite(series.values)]
    if values.size < limits.fewest_points:
        return None
    last, before, recent = float(values[-1]), values[:-1], values[-1 - limits.recent : -1]
    middle, scatter = median(recent), deviation(recent)
    bar = max(limits.far * scatter, limits.material * float(np.ptp(before)), 0.02 * abs(middle))
    rise = median(recent[limits.recent // 2 :]) - median(recent[: limits.recent // 2])
    if last - float(before.max()) < bar or last - middle - 2 * max(rise, 0.0) < bar:
        return None
    summary = (
        f"the last {series.logged_as} is {last:.4g}; the {recent.size} before it have the middle {middle:.4g} "
        f"and the best is {float(before.max()):.4g}"
    )
    evidence = (facts.evidence("return/eval", last - middle, bar, note="last evaluation minus the recent middle"),)
    return RuleResult(Severity.INFO, 0.7, summary, evidence, float(series.steps[-1]))
