"""Returns are too large to learn from as they are.

What it sees: The discounted return of an episode is in the thousands.
Why it hurts: The value loss grows with the square of the return: large ones swamp the policy, small ones drown in the
entropy bonus and in the optimiser's epsilon.
Evidence needed: returns of some episodes, from an examination or a training that was watched with Observe.
Looks alike: A trainer that normalises rewards by itself.
What to change: Divide rewards by the spread of the discounted return (VecNormalize, NormalizeReward); scale, never
shift.
References: Engstrom et al. 2020 (arXiv 2005.12729); four-phase method, step 1.3.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV55",
    needs=("environment:episodes", "environment:reward"),
    step=DecisionStep.REWARD,
    causes={"reward-scale-too-large": 8.0},
)


class Limits(RuleLimits):
    large: float = 5000.0
    """Root mean square of the discounted return."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the discounted return with 1."""
    env = facts.measured
    ends, reward = env.episodes, env.reward
    assert ends is not None
    assert reward is not None
    size = ends.discounted
    if facts.run.config.get("normalize_reward") or reward.high == reward.low == 0.0:
        return None
    if not size > limits.large:
        return None
    summary = f"the discounted return has a size of {size:,.4g}: multiply rewards by {1.0 / size:.2g} to bring it to 1"
    return RuleResult(
        Severity.WARNING, 0.95, summary, (measured("size of the discounted return", size, limits.large, ends.count),)
    )
