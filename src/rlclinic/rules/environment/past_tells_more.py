"""What comes next follows from the past, not from what is seen.

What it sees: The next observation follows from the last two observations and actions together, and hardly from the
present ones alone.
Why it hurts: What is needed to act is not observed: a policy without memory cannot do well.
Evidence needed: some hundred steps with a continuous observation of at most 64 numbers.
Looks alike: Games with hidden cards or walls, in which not all can be seen by design: use memory there.
What to change: Put the missing numbers (velocities, the goal, the last action) into the observation, or stack some
observations.
References: check 2 of the environment checks; Mnih et al. 2015 (frame stacking).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV38",
    needs=("environment:observation",),
    # Nothing foretells what grows without bound.
    covered_by=("ENV32",),
    step=DecisionStep.ENVIRONMENT,
    causes={"observation-insufficient": 7.0, "observation-corrupted": 4.0},
)


class Limits(RuleLimits):
    left: float = 0.2
    """What the past leaves open over what the present does."""
    jumps: float = 0.004
    """Share of steps that restart the task beyond which nothing is said."""
    present: float = 0.7
    """Share that the present may foretell at most."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare what the present and what the past foretell."""
    env = facts.measured
    seen = env.observation
    assert seen is not None
    if env.episodes is not None and env.episodes.restarts > limits.jumps:
        # A jump is foretold by nothing, and by what came before it.
        return None
    left = (1.0 - seen.explained_by_past) / max(1.0 - seen.explained, 1e-9)
    if not (left < limits.left and seen.explained < limits.present):
        return None
    summary = (
        f"the present observation and action foretell {100 * seen.explained:.3g}% of what changes next, with the "
        f"two steps before {100 * seen.explained_by_past:.3g}%"
    )
    return RuleResult(
        Severity.WARNING, 0.85, summary, (measured("left open by the past", left, limits.left, env.steps),)
    )
