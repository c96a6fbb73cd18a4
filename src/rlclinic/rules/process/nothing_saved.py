"""A long run finished without a checkpoint.

What it sees: The run finished after more than an hour (or a million env steps where times are not known), its
framework keeps checkpoints in the run folder, and there is none.
Why it hurts: The trained policy cannot be used, evaluated again or continued.
Evidence needed: a finished run of a framework whose folders hold the checkpoints.
Looks alike: A copy of the folder that left large files out, or checkpoints that are written elsewhere.
What to change: Turn on checkpoints (save the last and the best).
References: the folder layouts of the frameworks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Status
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("PRC05")

# Frameworks that write checkpoints beside the log.
KEEPS_CHECKPOINTS = frozenset(
    {"gymnasium-solver", "rlclinic", "sb3-zoo", "rsl_rl", "mlagents", "sample-factory", "trl", "d3rlpy", "skrl"}
)


class Limits(RuleLimits):
    long_seconds: float = 3600.0
    """Seconds, and env steps where there are no times, from which on losing the policy hurts."""
    long_steps: float = 1e6


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for saved states."""
    run = facts.run
    if run.status.state is not Status.FINISHED or run.checkpoints or run.framework not in KEEPS_CHECKPOINTS:
        return None
    seconds = run.ended_at - run.started_at if run.ended_at is not None and run.started_at is not None else None
    if seconds is not None and seconds > 0:
        long, how_long = seconds >= limits.long_seconds, f"{seconds / 3600:.1f} hours"
        evidence = Evidence("seconds", "duration", seconds, limits.long_seconds, note="duration of the run")
    else:
        long, how_long = (run.env_steps or 0.0) >= limits.long_steps, f"{run.steps:,.0f} steps"
        evidence = Evidence("steps", "steps", run.steps, limits.long_steps, note="env steps of the run")
    if not long:
        return None
    summary = f"no checkpoint in the run folder after {how_long}, although {run.framework} keeps them there"
    return RuleResult(Severity.INFO, 0.6, summary, (evidence,))
