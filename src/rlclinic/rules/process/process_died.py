"""The process died with an error.

What it sees: The log ends in an exception, or the tracker recorded a failure.
Why it hurts: The run is over; what it logged so far is all there is.
Evidence needed: the status that the reader found.
Looks alike: A run that was stopped on purpose (an interrupt or a signal from outside) is interrupted, not dead. A
tracker calls a run crashed when its heartbeat stops, for example because the machine was switched off.
What to change: Read the last lines of the log, which are quoted, and fix that first; nothing about learning can be
said of the time after it.
References: none needed.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Status
from rlclinic.rules.rule import Rule, RuleResult, Sign
from rlclinic.rules.words import quoted, steps_text

RULE = Rule("PRC01", means=(Sign.PROCESS_DIED,))


def check(facts: RunFacts) -> RuleResult | None:
    """Report the reason of the crash."""
    run = facts.run
    if run.status.state is not Status.CRASHED:
        return None
    when = f"after {steps_text(facts, run.steps)}" if run.steps else "before the first logged step"
    summary = f"the process died {when}: {quoted(run.status.reason)}"
    evidence = (Evidence("status", "status", run.steps, run.budget, points=0, note="last step, against the budget"),)
    return RuleResult(Severity.ERROR, 0.95, summary, evidence, run.steps or None)
