"""The run was stopped before its budget was used.

What it sees: The run was interrupted, or its log ends without an error, with part of the budget left.
Why it hurts: The result is that of a shorter run; published figures and other runs of the same budget do not
compare.
Evidence needed: a status of interrupted and a budget.
Looks alike: Stopping early because the goal is met, or by hand because the run was hopeless. A budget of 1e16 that
means no limit.
What to change: Continue from the last checkpoint if the return was rising; nothing if it was stopped on purpose.
References: none needed.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Status
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.rules.words import steps_text

RULE = Rule("PRC03")


class Limits(RuleLimits):
    nearly_all: float = 0.95
    """Share of the budget from which on the rest does not matter."""
    hardly_begun: float = 0.25
    """Share below which a return that has not moved yet was not given a chance."""
    unlimited: float = 1e13
    """Budgets above this many steps mean "until stopped by hand"."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the steps taken with the budget."""
    run, share = facts.run, facts.progress
    if run.status.state is not Status.INTERRUPTED or run.budget is None or share is None:
        return None
    if share >= limits.nearly_all or run.budget > limits.unlimited:
        return None
    summary = f"{steps_text(facts, run.steps)} of {run.budget:,.0f} were taken ({100 * share:.0f}%)"
    evidence = (Evidence("steps", "budget", share, limits.nearly_all, note="share of the budget that was used"),)
    curve = facts.curve
    moved = curve is not None and (curve.climbed or curve.surely_gained)
    severity = Severity.INFO if moved or share >= limits.hardly_begun else Severity.WARNING
    return RuleResult(severity, 0.85, summary, evidence, run.steps)
