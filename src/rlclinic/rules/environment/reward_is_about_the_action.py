"""The reward is about the action itself, or about one cost.

What it sees: The action alone foretells nearly all of the reward, the state hardly any of it, though some; or one term
costs many times what all others pay.
Why it hurts: A cost of acting that outweighs the task teaches to do nothing; a bonus for acting teaches to do just
that.
Evidence needed: some hundred steps under different policies, with continuous actions.
Looks alike: A bandit, in which the action is the task; a goal that no policy has reached yet: there one action is
always paid the same.
What to change: Weigh the term down until the rest of the reward varies as much over the behaviour that matters.
References: four-phase method, step 1.1; Knox et al. 2023 (arXiv 2104.13906).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV59",
    needs=("environment:reward", "environment:episodes", "environment:action"),
    step=DecisionStep.REWARD,
    # Returns are as large as the term makes them: it is what is to be changed.
    causes={"reward-component-dominates": 7.5, "reward-hacking": 2.0, "reward-scale-too-large": -4.0},
)


class Limits(RuleLimits):
    share: float = 0.99
    """Share of the variance of rewards."""
    nothing_else: float = 0.9995
    """Share from which on the action may be all that was paid for so far."""
    cost: float = 0.9
    """Share of the variance of rewards that is one cost."""
    times: float = 10.0
    """How often it takes what all other terms pay."""
    same: float = 1e-6
    """Spread of the rewards of one action, relative to all, above which the state is paid for too."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at what the action alone foretells."""
    env = facts.measured
    reward, ends, action = env.reward, env.episodes, env.action
    assert reward is not None
    assert ends is not None
    assert action is not None
    costs = [part for part in reward.components if part.mean < 0.0]
    gains = sum(part.mean for part in reward.components if part.mean > 0.0)
    if reward.components_sum and costs and gains > 0.0:
        cost = min(costs, key=lambda part: part.mean)
        if cost.share > limits.cost and -cost.mean > limits.times * gains:
            summary = f"{cost.name} costs {-cost.mean / gains:.3g} times what all other terms pay, and makes "
            summary += f"{100 * cost.share:.3g}% of the variance of the reward"
            evidence = measured("share of one cost", cost.share, limits.cost, env.steps)
            return RuleResult(Severity.WARNING, 0.9, summary, (evidence,))
    if action.kind != "box" or ends.longest <= 2 or not reward.by_action > limits.share:
        return None
    if reward.by_action > limits.nothing_else and not reward.same_action > limits.same:
        return None
    summary = f"the action alone foretells {100 * reward.by_action:.3g}% of the reward: the state hardly counts"
    return RuleResult(
        Severity.WARNING, 0.9, summary, (measured("share of the action", reward.by_action, limits.share, env.steps),)
    )
