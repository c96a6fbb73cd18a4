"""Every policy gets the same reward.

What it sees: Every step pays the same and no episode of any policy differs in its return; or rewards vary, and no
action changes them.
Why it hurts: There is nothing to learn from: advantages are noise of the critic.
Evidence needed: random and simple policies, or a training that was watched with Observe.
Looks alike: A goal that is very hard to find, which only demonstrations or shaping make visible; a task whose reward
is the length of the episode.
What to change: Print the reward of a scripted good episode. If it is the same too, the reward is broken; if not,
shape it or start nearer to the goal.
References: four-phase method, steps 1.3 and 3.2; Laidlaw et al. 2023 (arXiv 2304.09853).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV52",
    needs=("environment:reward", "environment:episodes"),
    step=DecisionStep.REWARD,
    causes={"uninformative-reward": 8.0, "sparse-reward": 6.0},
)


class Limits(RuleLimits):
    fewest: int = 8
    """Episodes."""
    new: float = 0.06
    """Share of later steps at new places below which the policies have seen what there is."""
    usual: float = 0.5
    """Share of steps that pay the commonest reward, below which few different rewards still vary."""
    noise: float = 0.5
    """Share of the variance of rewards that may be noise."""
    hidden: float = 0.3
    """Share of states in which an action that matters changes no reward, at most."""
    states: int = 8
    """States from which actions were tried."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare what policies and actions are paid."""
    env = facts.measured
    reward, ends, action = env.reward, env.episodes, env.action
    assert reward is not None
    assert ends is not None
    if ends.count < limits.fewest:
        return None
    same = ends.distinct_returns == 1 and ends.shortest == ends.longest
    if reward.std == 0.0 and (reward.high == 0.0 or same):
        summary = f"every one of {env.steps:,} steps pays {reward.high:g}, whatever is done"
        unreached = reward.high < 0.0 and not ends.terminated
        if unreached or not ends.new_places < limits.new:
            rest = "no policy reached an end that would save steps" if unreached else "not all of the task was seen yet"
            told = f"{summary}; {rest}"
            return RuleResult(Severity.INFO, 0.3, told, (measured("spread of rewards", 0.0, 0.0, env.steps),))
        return RuleResult(Severity.ERROR, 0.95, summary, (measured("spread of rewards", 0.0, 0.0, env.steps),))
    if (
        action is None
        or action.states < limits.states
        or not action.effects
        or reward.nonzero < 0.5
        or (reward.distinct < 20 and not reward.usual < limits.usual)
    ):
        return None
    if reward.noise_share > limits.noise:
        # That they vary is noise, which hides what actions change.
        return None
    if reward.effect_lag is not None or not any(effect.observation > 0 for effect in action.effects):
        return None
    summary = f"rewards vary, but in {action.states} states no action changed any reward of the next steps"
    return RuleResult(
        Severity.ERROR,
        0.85,
        summary,
        (measured("actions that change the reward", 0.0, 0.0, action.states),),
        chance=limits.hidden**action.states,
    )
