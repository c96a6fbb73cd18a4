"""Rewards are too small to learn from as they are.

What it sees: The largest reward is a few hundredths at most, and so is the discounted return of whole episodes.
Why it hurts: Advantages and value errors drown in the entropy bonus, in the optimiser's epsilon and in rounding.
Evidence needed: returns of some episodes, from an examination or a training that was watched with Observe.
Looks alike: A trainer that normalises rewards by itself; a task in which the reward was not found yet.
What to change: Divide rewards by the spread of the discounted return (VecNormalize, NormalizeReward); scale, never
shift.
References: Henderson et al. 2018 (arXiv 1709.06560), reward scale; four-phase method, step 1.3.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV56",
    needs=("environment:episodes", "environment:reward"),
    step=DecisionStep.REWARD,
    causes={"reward-scale-too-small": 8.0},
)


class Limits(RuleLimits):
    small: float = 0.02
    """Largest reward, and root mean square of the discounted return, in size."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare rewards and returns with 1."""
    env = facts.measured
    ends, reward = env.episodes, env.reward
    assert ends is not None
    assert reward is not None
    largest = max(abs(reward.low), abs(reward.high))
    if (
        facts.run.config.get("normalize_reward")
        or not 0.0 < largest < limits.small
        or not ends.discounted < limits.small
    ):
        return None
    size = max(ends.discounted, largest)
    summary = f"no reward is larger than {largest:.2g}: multiply by {1.0 / size:.2g} to bring returns to 1"
    return RuleResult(Severity.WARNING, 0.95, summary, (measured("largest reward", largest, limits.small, env.steps),))
