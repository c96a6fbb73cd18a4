"""One action pays, whatever the state.

What it sees: One discrete action is paid the same positive amount at nearly every step, and the others are not paid.
Why it hurts: Repeating it earns more than doing the task, so that is what is learned.
Evidence needed: at least 20 steps of each action.
Looks alike: A task of one state, in which an action is the task; a small pay that lures from a larger one, which some
policy earned.
What to change: Pay for what the action achieves, not for the action.
References: Amodei et al. 2016 (arXiv 1606.06565); check 6 of the environment checks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV58",
    needs=("environment:reward", "environment:episodes"),
    step=DecisionStep.REWARD,
    causes={"reward-hacking": 7.5, "reward-component-dominates": 5.0},
)


class Limits(RuleLimits):
    same: float = 0.8
    """Share of its steps that pay the same."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare what actions are paid."""
    env = facts.measured
    reward, ends, seen = env.reward, env.episodes, env.observation
    assert reward is not None
    assert ends is not None
    if (
        len(reward.pay_of_action) < 2
        or ends.longest <= 2
        or (seen is not None and len(seen.constant) == len(seen.names))
    ):
        return None
    best, *others = sorted(reward.pay_of_action, reverse=True)
    if best <= 0.0 or others[0] > 0.0 or reward.pay_by_itself < limits.same:
        return None
    choice = reward.pay_of_action.index(best)
    own = next((one for one in env.panel if one.name == f"always {choice}"), None)
    if own is not None and any(one.low > own.high for one in env.panel):
        # A small pay that lures: the task is worth more, and what does not repeat the action earns it.
        return None
    share = f"{100 * reward.pay_by_itself:.3g}% of its steps"
    summary = f"action {choice} pays {best:.3g} at {share}, the others {others[0]:.3g} at most"
    return RuleResult(
        Severity.ERROR,
        0.9,
        summary,
        (measured("steps paid for the action", reward.pay_by_itself, limits.same, env.steps),),
    )
