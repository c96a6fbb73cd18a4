"""The task starts anew inside of episodes.

What it sees: Steps that jump from far away into the set of first observations, without an end being reported.
Why it hurts: A failure is not seen as one: its cost is spread over the next attempt, and the critic learns a step
that cannot be.
Evidence needed: some hundred steps with a continuous observation whose starts are a small part of what is visited.
Looks alike: Periodic coordinates that wrap around.
What to change: Return terminated=True where the task fails, and let reset start the next attempt.
References: TorchRL ParallelEnv without auto-reset (snake-hrl-torchrl).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV49",
    needs=("environment:episodes",),
    step=DecisionStep.ENVIRONMENT,
    causes={"episode-never-ends": 6.5, "termination-as-truncation": 4.0, "reset-broken": 3.0},
)


class Limits(RuleLimits):
    share: float = 0.004
    """Share of steps that jump."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for jumps into the starts."""
    env = facts.measured
    assert env.episodes is not None
    share = env.episodes.restarts
    if not share > limits.share:
        return None
    summary = f"{100 * share:.2g}% of the steps jump back to a first observation without an end being reported"
    return RuleResult(Severity.ERROR, 0.85, summary, (measured("jumps to a start", share, limits.share, env.steps),))
