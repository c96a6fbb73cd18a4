"""The same state is seen differently each time.

What it sees: Copies of one state that take the same action with other chance see different things and then go on
alike; or observations are exactly those of earlier steps.
Why it hurts: The noise is in the sensor alone: what the agent sees says less about where it is, and the best it can
do is to average.
Evidence needed: an examination of an environment that can be copied or replayed; or a training that was watched with
Observe.
Looks alike: Random dynamics, after which the copies do not go on alike; a standstill, in which the same is seen again
at once.
What to change: Return the observation of the state after the step: no buffer, no noise beyond what the task asks for.
References: checks 2 and 10 of the environment checks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV36",
    needs=("environment:observation",),
    step=DecisionStep.ENVIRONMENT,
    causes={"observation-corrupted": 7.0, "observation-insufficient": 3.0},
)


class Limits(RuleLimits):
    noise: float = 0.1
    """Share of the variance of the observation that is noise."""
    repeated: float = 0.1
    """Share of steps that show an earlier observation again."""
    foretold: float = 0.5
    """Share of the change from which on a place seen again is a place come back to."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at noise and at repeats."""
    env = facts.measured
    seen = env.observation
    assert seen is not None
    if seen.noise_share > limits.noise:
        summary = (
            f"{100 * seen.noise_share:.3g}% of the variance of the observation is noise: the same state looks different"
        )
        evidence = measured("noise share", seen.noise_share, limits.noise)
        return RuleResult(Severity.ERROR, 0.95, summary, (evidence,), chance=seen.noise_chance)
    if not seen.repeated > limits.repeated or seen.explained > limits.foretold:
        return None
    summary = f"{100 * seen.repeated:.3g}% of the observations are exactly those of an earlier step of the episode"
    return RuleResult(Severity.ERROR, 0.9, summary, (measured("repeats", seen.repeated, limits.repeated, env.steps),))
