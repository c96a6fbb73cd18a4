"""A large part of the actions is still random at the end.

What it sees: Epsilon stays above 0.3 to the end of a run that used its budget, or stays flat there for its last half.
Why it hurts: Training returns are those of a mostly random agent, and the buffer fills with states that a good policy
never visits; tasks that need many right actions in a row stay out of reach.
Evidence needed: epsilon with at least 12 points.
Looks alike: A run that was stopped while epsilon was still falling. Distributed actors with fixed epsilons of their
own.
What to change: End the decay within the budget (a smaller exploration_fraction) at 0.01 to 0.1, and judge by
evaluations without exploration.
References: RLExplorer's check of the exploration factor (arXiv 2410.04322).
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("OFF10", needs=("epsilon",), algorithms=("q-learning",), step=DecisionStep.EXPLORATION)


class Limits(RuleLimits):
    high: float = 0.3
    """Share of random actions."""
    used: float = 0.8
    """Share of the budget from which on a schedule should be down."""
    flat: float = 0.02
    """Change of epsilon over the last half that still counts as flat."""
    fewest_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the last part of epsilon, and whether it was still on its way down."""
    epsilon, late = facts.series("epsilon"), facts.late("epsilon")
    middle = facts.level("epsilon", 0.45, 0.55)
    if (
        epsilon is None
        or late is None
        or middle is None
        or len(epsilon) < limits.fewest_points
        or late.value < limits.high
    ):
        return None
    used = facts.progress is not None and facts.progress >= limits.used
    flat = abs(middle.value - late.value) < limits.flat
    if not used and not flat:
        return None
    curve = facts.curve
    beside = f" while the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = f"epsilon ({epsilon.logged_as}) is still {late.value:.3g} in the last tenth of the run{beside}"
    evidence = (facts.evidence("epsilon", late.value, limits.high, level=late, note="median of the last 10%"),)
    bad = failed(facts)
    return RuleResult(Severity.WARNING if bad else Severity.INFO, 0.75 if bad else 0.5, summary, evidence)
