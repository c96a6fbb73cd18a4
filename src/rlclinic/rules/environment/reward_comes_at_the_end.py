"""The whole reward is paid at the last step, at time limits too.

What it sees: Only last steps of episodes pay, in many different amounts, and those that a time limit ended as well;
or hardly any step pays, which is a note.
Why it hurts: Which of many actions earned it must be guessed; learning takes longer by the length of the episode.
Evidence needed: at least 10 whole episodes of 10 steps or more.
Looks alike: A game that is won or lost in the end: a few amounts, and no time limit.
What to change: Pay what is earned when it is earned; or shape with a potential, F = gamma Phi(s') - Phi(s), which
keeps the optimum.
References: Ng et al. 1999; four-phase method, step 1.4.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV54",
    needs=("environment:reward", "environment:episodes"),
    step=DecisionStep.REWARD,
    causes={"sparse-reward": 7.5},
)


class Limits(RuleLimits):
    share: float = 0.99
    """Share of all that is paid that the last steps pay."""
    amounts: int = 8
    """Different amounts."""
    length: float = 10.0
    """Mean length of episodes."""
    before: float = 0.1
    """Share of cut episodes that are shorter than the longest, at most."""
    sparse: float = 0.05
    """Share of steps that pay below which it is a note."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at which steps pay."""
    env = facts.measured
    reward, ends = env.reward, env.episodes
    assert reward is not None
    assert ends is not None
    if ends.count < 10 or reward.std == 0.0:
        return None
    last_only = reward.at_end > limits.share and reward.distinct >= limits.amounts and ends.mean_length >= limits.length
    # At many lengths it is no time limit that cuts.
    limited = ends.truncated > 0.5 * ends.count and not ends.truncated_before > limits.before
    if last_only and limited:
        summary = f"the last steps of episodes, cut by the time limit, pay {100 * reward.at_end:.3g}% of all reward"
        return RuleResult(
            Severity.ERROR, 0.9, summary, (measured("share of the last steps", reward.at_end, limits.share, env.steps),)
        )
    if reward.nonzero >= limits.sparse:
        return None
    summary = (
        f"{100 * reward.nonzero:.2g}% of the steps pay anything: a reward that is rarely seen is slow to learn from"
    )
    return RuleResult(
        Severity.INFO, 0.2, summary, (measured("share of steps that pay", reward.nonzero, limits.sparse, env.steps),)
    )
