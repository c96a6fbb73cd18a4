"""The same step is paid differently each time.

What it sees: Copies of one state that take the same action with other chance get different rewards and then go on
alike; or rewards far outside of all others that do not come again.
Why it hurts: The noise is not in the task: it hides what the policy changed, and advantages follow it.
Evidence needed: an examination of an environment that can be copied or replayed; or a training that was watched with
Observe.
Looks alike: Random dynamics, which the copies keep; a bandit whose rewards are drawn by design.
What to change: Remove the noisy term, or pay its mean.
References: check 6 of the environment checks; four-phase method, step 1.2.
"""

from __future__ import annotations

import math

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.environment_facts import RewardFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import LEVEL, measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV51",
    needs=("environment:reward",),
    step=DecisionStep.REWARD,
    causes={"noisy-reward": 7.5},
)


class Limits(RuleLimits):
    noise: float = 0.5
    """Share of the variance of rewards that is noise."""
    recur: float = 0.34
    """Share of outlying rewards that must come again."""
    told: float = 0.5
    """Share of recorded rewards from which on outliers are what the step earned: a part of the task that was done."""
    foretold: float = 0.05
    """Share of recorded rewards that the step must foretell."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at noise, at outliers, and at what foretells rewards."""
    env = facts.measured
    reward, episodes = env.reward, env.episodes
    assert reward is not None
    if episodes is not None and episodes.longest <= 1:
        return None
    noisy = _noisy(reward, limits)
    # Noise that is rare shows in too few states to be sure of, but as outliers.
    if noisy is not None and (noisy.chance or 0.0) < LEVEL:
        return noisy
    recurs = reward.outliers_recur > limits.recur or (
        math.isnan(reward.outliers_recur) and reward.explained > limits.told
    )
    if reward.outliers > 0.0 and not recurs:
        once = (
            "that did not come again from the same state"
            if not math.isnan(reward.outliers_recur)
            else "inside episodes"
        )
        far = f"{reward.outlier_size:.3g} times the usual spread from the others"
        summary = f"{100 * reward.outliers:.2g}% of the rewards lie {far}, {once}"
        return RuleResult(
            Severity.ERROR, 0.9, summary, (measured("distance of outliers", reward.outlier_size, 30.0, env.steps),)
        )
    # Where part of the observation is dead, what is missing may be what foretells.
    watched = env.source != "examined" and math.isnan(reward.noise_share)
    watched = watched and not (env.observation is not None and env.observation.zero)
    if not watched or reward.distinct < 100 or reward.nonzero < 0.5 or not reward.explained < limits.foretold:
        return noisy
    summary = f"observation, action and next observation foretell {100 * reward.explained:.2g}% of the reward"
    return RuleResult(
        Severity.WARNING, 0.85, summary, (measured("foretold share", reward.explained, limits.foretold, env.steps),)
    )


def _noisy(reward: RewardFacts, limits: Limits) -> RuleResult | None:
    if not reward.noise_share > limits.noise:
        return None
    summary = f"{100 * reward.noise_share:.3g}% of the variance of rewards is noise: the same step is paid differently"
    evidence = measured("noise share", reward.noise_share, limits.noise)
    return RuleResult(Severity.ERROR, 0.95, summary, (evidence,), chance=reward.noise_chance)
