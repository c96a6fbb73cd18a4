"""Ending soon pays, and episodes are soon over whatever is done.

What it sees: All steps cost, the return falls with the length of the episode, and random actions and all simple
policies end it long before its limit; or nearly every end is paid more than going on would be, and `info` calls none of
them a success, or all simple policies end as soon.
Why it hurts: The best return is that of the shortest episode: the agent learns to fail at once.
Evidence needed: at least 20 episodes of different length under random actions, and a time limit or longer episodes of
other policies.
Looks alike: A cost per step until a goal: there random actions do not end the episode, or the same action over and
over does not; in a training, episodes were long before they became short.
What to change: Make the end cost at least what the remaining steps would, or pay for each step survived.
References: gym-electric-motor#24; roboschool#50.
"""

from __future__ import annotations

import math

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.environment_facts import INFORMED
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV61",
    needs=("environment:episodes", "environment:reward"),
    step=DecisionStep.REWARD,
    causes={"reward-favours-ending": 8.0, "reward-sign-wrong": 4.0},
)


class Limits(RuleLimits):
    correlation: float = -0.9
    """Of return and length."""
    beaten: float = -0.5
    """The same where random actions, by ending, earn more than the limit's steps would at the best that one paid."""
    rare: float = 0.01
    """Share of episodes that `info` calls a success below which ends are failures."""
    early: float = 0.3
    """Mean length over the longest episode or the limit."""
    paid: float = 0.95
    """Share of the ends that pay more than going on."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare return and length."""
    env = facts.measured
    ends, reward = env.episodes, env.reward
    assert ends is not None
    assert reward is not None
    whole = ends.limit or max(ends.longest, ends.unended)
    began = facts.early("episode_length")
    lengths = [ends.mean_length, *(one.length for one in env.panel if one.name not in INFORMED)]
    lengths += [began.value] if began is not None else []
    # Where no end is a success, shorter is worse for the task.
    failed, soon = ends.success_rate < limits.rare, max(lengths) <= limits.early * whole
    pays = reward.ending_worth > limits.paid and ends.terminated >= 20 and ends.longest > 2
    if pays and (failed or (soon and not ends.success_rate > 0.0 and len(lengths) > 2)):
        summary = (
            f"{100 * reward.ending_worth:.3g}% of {ends.terminated} ends were paid more than going on would have been, "
            f"after {ends.mean_length:.3g} of {whole:,} steps, whatever was done: failing pays"
        )
        evidence = measured("ends that pay more than going on", reward.ending_worth, limits.paid, ends.terminated)
        return RuleResult(Severity.ERROR if failed else Severity.WARNING, 0.85, summary, (evidence,))
    bar = limits.beaten if ends.return_mean > reward.high * whole else limits.correlation
    if ends.count < 20 or reward.high > 0.0 or not ends.length_correlation < bar:
        return None
    if ends.terminated < 0.95 * ends.count or not (failed or soon):
        return None
    summary = (
        f"no step pays more than {reward.high:g}, return and length correlate by {ends.length_correlation:.2g}, and "
        f"episodes last {ends.mean_length:.3g} of {whole:,} steps: the shortest pays most"
    )
    return RuleResult(
        Severity.ERROR,
        0.9,
        summary,
        (measured("correlation of return and length", ends.length_correlation, bar, ends.count),),
        chance=_chance(ends.length_correlation, ends.count),
    )


def _chance(correlation: float, count: int) -> float:
    """Fisher's test of a correlation."""
    z = math.atanh(min(abs(correlation), 1.0 - 1e-12)) * math.sqrt(count - 3)
    return math.erfc(z / math.sqrt(2.0))
