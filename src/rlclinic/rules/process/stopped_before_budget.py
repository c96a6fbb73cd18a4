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

from rlclinic.facts.course import course_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Status
from rlclinic.rules.result import RuleResult
from rlclinic.rules.words import steps_text

# Share of the budget from which on the rest does not matter.
NEARLY_ALL = 0.95
# Share below which a return that has not moved yet was not given a chance.
HARDLY_BEGUN = 0.25
# Budgets above this many steps mean "until stopped by hand".
UNLIMITED = 1e13


def check(facts: RunFacts) -> RuleResult | None:
    """Compare the steps taken with the budget."""
    run, share = facts.run, facts.progress
    if run.status.state is not Status.INTERRUPTED or run.budget is None or share is None:
        return None
    if share >= NEARLY_ALL or run.budget > UNLIMITED:
        return None
    summary = f"{steps_text(facts, run.steps)} of {run.budget:,.0f} were taken ({100 * share:.0f} %)"
    evidence = (Evidence("steps", "budget", share, NEARLY_ALL, note="share of the budget that was used"),)
    course = course_of(facts)
    moved = course is not None and (course.climbed or course.surely_gained)
    severity = Severity.INFO if moved or share >= HARDLY_BEGUN else Severity.WARNING
    return RuleResult(severity, 0.85, summary, evidence, run.steps)
