"""What actions do changed during the run.

What it sees: What was learned of the early steps foretells the late ones far worse than these foretell themselves.
Why it hurts: The agent unlearns what it knew; a replay buffer mixes two tasks.
Evidence needed: some thousand steps of a training, in the order in which they were taken.
Looks alike: A policy that came into another part of the task, where an early fit knows nothing: such steps are left
out.
What to change: Find what depends on the total of steps: wear, schedules, randomisation that grows.
References: Khetarpal et al. 2022 (arXiv 2012.13490).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV50",
    needs=("environment:observation",),
    step=DecisionStep.ENVIRONMENT,
    causes={"nonstationary-task": 7.0, "curriculum-wrong": 2.0},
)


class Limits(RuleLimits):
    worse: float = 0.4
    """Share of the variance that is foretold worse."""
    own: float = 0.7
    """Share that the late steps must foretell of themselves."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare an early fit with a late one on late steps."""
    env = facts.measured
    if (
        (env.source == "examined" and not env.observed)
        or not env.drift > limits.worse
        or not env.drift_own > limits.own
    ):
        return None
    less = f"{100 * env.drift:.3g} points less of the last third than its own"
    summary = f"a fit to the first third of the steps foretells {less}"
    return RuleResult(
        Severity.WARNING, 0.7, summary, (measured("loss of foresight", env.drift, limits.worse, env.steps),)
    )
