"""More and more units of the network are dead.

What it sees: The share of dead units grew by at least 0.2 over the run and ended above 0.3.
Why it hurts: Dead units pass no gradient. The network loses capacity and the ability to fit new targets, which shows
late, often after a change of the task.
Evidence needed: dead_units with at least 12 points.
Looks alike: Sparse activations of a working network: without a poor return it is a note. Statistics of
pre-activations, which are almost never exactly zero.
What to change: Lower the learning rate, use LeakyReLU, layer normalisation or tanh, normalise observations, reset
dead units.
References: Sokar et al. 2023 (arXiv 2302.12902); Lyle et al. 2023 (arXiv 2303.01486).
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("OPT09", needs=("dead_units",))


class Limits(RuleLimits):
    many: float = 0.3
    """Share of units."""
    grew: float = 0.2
    fewest_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the late share with the early one."""
    dead, early, late = facts.series("dead_units"), facts.early("dead_units"), facts.late("dead_units")
    if dead is None or early is None or late is None or len(dead) < limits.fewest_points:
        return None
    # Some trainers log percent under the same name.
    unit = 100.0 if (dead.highest or 0.0) > 1.0 else 1.0
    grew = (late.value - early.value) / unit
    if late.value / unit < limits.many or grew < limits.grew:
        return None
    summary = (
        f"{dead.logged_as} rose from {100 * early.value / unit:.3g}% to {100 * late.value / unit:.3g}% of the units"
    )
    evidence = (
        facts.evidence("dead_units", late.value / unit, limits.many, level=late, note="share of dead units, last 10%"),
        facts.evidence("dead_units", grew, limits.grew, level=early, note="growth of the share"),
    )
    above = dead.values > limits.many * unit
    bad = failed(facts)
    onset = float(dead.steps[int(above.argmax())])
    return RuleResult(Severity.WARNING if bad else Severity.INFO, 0.65 if bad else 0.5, summary, evidence, onset)
