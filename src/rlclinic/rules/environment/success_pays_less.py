"""What is better for the task is paid less.

What it sees: `info` tells which episodes were a success, and a success returns less than a failure more often than not;
or steps pay the more the larger the distance, the error or what else nobody wants is that `info` tells.
Why it hurts: The better the agent becomes at what is paid, the worse at the task.
Evidence needed: at least 8 successes and 8 failures of any policies, told by is_success or success in `info`.
Looks alike: A success that is told too late or of another goal: look at an episode that is called one.
What to change: Pay for the success at least what the steps that it saves would have paid.
References: Amodei et al. 2016 (arXiv 1606.06565); four-phase method, step 1.5.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV68",
    needs=("environment:episodes",),
    step=DecisionStep.REWARD,
    causes={"reward-hacking": 7.0, "reward-sign-wrong": 5.0, "reward-favours-staying": 4.0},
)


class Limits(RuleLimits):
    better: float = 0.3
    """Share of pairs of a success and a failure in which the success returns more."""
    farther: float = 0.95
    """Rank correlation of the reward with a distance or an error, inside episodes."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the returns of successes and failures."""
    env = facts.measured
    ends, reward = env.episodes, env.reward
    assert ends is not None
    if reward is not None and reward.pays_distance > limits.farther:
        summary = (
            f"the reward rises with what `info` calls {reward.distance} (rank correlation {reward.pays_distance:.2g})"
        )
        evidence = measured("correlation with the distance", reward.pays_distance, limits.farther, env.steps)
        return RuleResult(Severity.ERROR, 0.9, summary, (evidence,))
    if not ends.success_pays < limits.better:
        return None
    summary = (
        f"{100 * ends.success_rate:.3g}% of {ends.count} episodes were a success, and a success returns more than a "
        f"failure in only {100 * ends.success_pays:.3g}% of their pairs"
    )
    evidence = measured("pairs in which success pays more", ends.success_pays, limits.better, ends.count)
    return RuleResult(Severity.ERROR, 0.9, summary, (evidence,), chance=ends.success_chance)
