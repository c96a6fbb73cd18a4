"""Ends of the task are reported as time limits.

What it sees: Nearly no episode is reported as terminated, and truncated ones end at many different lengths.
Why it hurts: The critic goes on from states after which nothing comes, so failing costs nothing and success is never
final.
Evidence needed: at least 10 episodes, from an examination or a training that was watched with Observe.
Looks alike: Leaving the area of the task, which some environments report as truncated by design.
What to change: Return terminated=True where the task itself is over.
References: Gymnasium, terminated and truncated; Pardo et al. 2018 (arXiv 1712.00378).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV47",
    needs=("environment:episodes",),
    step=DecisionStep.ENVIRONMENT,
    causes={"termination-as-truncation": 8.0},
)


class Limits(RuleLimits):
    fewest: int = 10
    """Episodes."""
    lengths: int = 5
    """Different lengths of truncated episodes."""
    before: float = 0.1
    """Share of truncated episodes that ended before the greatest length."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the lengths of truncated episodes."""
    env = facts.measured
    ends = env.episodes
    assert ends is not None
    if ends.truncated < limits.fewest or ends.terminated > 0.02 * ends.count:
        return None
    if ends.truncated_lengths < limits.lengths or ends.truncated_before < limits.before:
        return None
    summary = (
        f"{ends.truncated} episodes are reported as cut by a time limit, at {ends.truncated_lengths} different lengths "
        f"from {ends.shortest} to {ends.longest} steps, and {ends.terminated} as terminated"
    )
    return RuleResult(
        Severity.ERROR, 0.93, summary, (measured("lengths", ends.truncated_lengths, limits.lengths, ends.count),)
    )
