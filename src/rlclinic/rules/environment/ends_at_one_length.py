"""A time limit is reported as the end of the task.

What it sees: Many episodes end as terminated at exactly the greatest length, at different observations, and no number
of the observation tells the time.
Why it hurts: The critic learns that nothing comes after that step, although the task goes on; an end that cannot be
foreseen is noise to it.
Evidence needed: some episodes of the greatest length, from an examination or a training that was watched with
Observe.
Looks alike: A task with a fixed number of steps and the time among its observations, or one in which no action has a
consequence beyond its step; a goal that is always reached in
the same number of steps, at one place.
What to change: Return truncated=True for a time limit and terminated=False, and leave the limit to gymnasium's
TimeLimit.
References: Pardo et al. 2018 (arXiv 1712.00378); check 1 of the environment checks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV46",
    needs=("environment:episodes",),
    step=DecisionStep.ENVIRONMENT,
    causes={"truncation-as-termination": 7.5},
)


class Limits(RuleLimits):
    fewest: int = 3
    """Episodes of the greatest length."""
    short: int = 20
    """Greatest length below which it is another matter: the episode is over before much can be done."""
    most: float = 0.9
    """Share of these that must be reported as terminated."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the episodes of the greatest length."""
    env = facts.measured
    ends = env.episodes
    assert ends is not None
    at_longest = round(ends.at_longest * ends.count)
    if at_longest < limits.fewest or ends.longest < limits.short or ends.terminated_at_longest < limits.most:
        return None
    effects = env.action.effects if env.action is not None else ()
    if ends.same_last or ends.knows_time or (effects and all(one.changes_nothing_later for one in effects)):
        # What nothing follows from is worth the same at an end.
        return None
    summary = (
        f"{at_longest} of {ends.count} episodes end as terminated at exactly {ends.longest} steps, at different "
        "observations: a time limit"
    )
    evidence = measured("episodes of the greatest length", at_longest, limits.fewest, ends.count)
    return RuleResult(Severity.ERROR, 0.9, summary, (evidence,), chance=ends.chance_of_one_length)
