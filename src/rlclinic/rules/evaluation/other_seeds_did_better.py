"""The same config did far better with other seeds.

What it sees: This run did not learn, and runs beside it with the same config but another seed ended far above it.
Why it hurts: The outcome is within the spread of seeds: no setting explains it, and a change that is judged by one seed
is judged by luck.
Evidence needed: at least two further runs in the same folder whose names differ in digits only and whose configs agree.
Looks alike: Runs of another version of the code or of the environment under the same config. A config whose values are
not all recorded.
What to change: Judge the config by the mean over at least five seeds; look for what makes it fragile (entropy, learning
rate, first successes) rather than for a fault of this run.
References: Henderson et al. 2018 (arXiv 1709.06560); Agarwal et al. 2021 (arXiv 2108.13264).
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.returns import return_curve
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("EVA06", needs=("return/train|return/eval",))


class Limits(RuleLimits):
    fewest_seeds: int = 2
    far_above: float = 4.0
    """Units of this run's noise by which the middle of the others must lie above it."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the end with the ends of the other seeds."""
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or not failed(facts):
        return None
    curves = [return_curve(other.series.get(returns.name)) for other in facts.siblings]
    ends = sorted(curve.final for curve in curves if curve is not None)
    if len(ends) < limits.fewest_seeds:
        return None
    middle = ends[len(ends) // 2]
    bar = curve.final + max(limits.far_above * curve.noise, 0.5 * abs(curve.final))
    if middle < bar:
        return None
    summary = (
        f"{returns.logged_as} ended at {curve.final:.4g}; {len(ends)} other seeds of the same config ended between "
        f"{ends[0]:.4g} and {ends[-1]:.4g}"
    )
    evidence = (facts.evidence(returns.name, middle, bar, note="middle end of the other seeds, against this run"),)
    return RuleResult(Severity.INFO, 0.85, summary, evidence)
