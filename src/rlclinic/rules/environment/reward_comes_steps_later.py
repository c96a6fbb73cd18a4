"""The reward arrives late: it is about an earlier step.

What it sees: Rewards follow from a transition some steps ago far better than from their own, or every episode begins
with steps that pay exactly 0 where all others pay.
Why it hurts: The wrong action gets the credit, and the last rewards of an episode are lost.
Evidence needed: some hundred steps with an observation that foretells the reward.
Looks alike: A reward that is computed from the state before the step, which is one step late by design.
What to change: Compute the reward from the transition of the same step.
References: check 7 of the environment checks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV53",
    needs=("environment:reward",),
    step=DecisionStep.REWARD,
    causes={"noisy-reward": 6.5, "uninformative-reward": 4.0, "observation-corrupted": 2.0},
)


class Limits(RuleLimits):
    gain: float = 0.25
    """Share of the variance that the older transition foretells better."""
    lag: int = 2
    """Steps that are late."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare transitions of different age."""
    env = facts.measured
    reward = env.reward
    assert reward is not None
    gain = reward.explained_at_lag - reward.explained
    at_once = reward.effect_lag is not None and reward.effect_lag < reward.lag
    if reward.lag >= limits.lag and gain > limits.gain and not at_once:
        summary = (
            f"the transition {reward.lag} steps ago foretells {100 * reward.explained_at_lag:.3g}% of the reward, its "
            f"own {100 * reward.explained:.3g}%"
        )
        return RuleResult(
            Severity.ERROR, 0.9, summary, (measured("gain of the older transition", gain, limits.gain, env.steps),)
        )
    if not reward.first_zero:
        return None
    summary = f"the first {reward.first_zero} rewards of every episode are exactly 0, and nearly no other is"
    return RuleResult(
        Severity.WARNING, 0.85, summary, (measured("unpaid first steps", reward.first_zero, 0, env.steps),)
    )
