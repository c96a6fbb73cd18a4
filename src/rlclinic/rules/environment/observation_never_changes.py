"""Parts of the observation never change.

What it sees: All numbers of the observation are the same at every step; or some of them are always exactly 0 over
all policies that were tried, while the others do not foretell what comes next or what is paid.
Why it hurts: What should be there is not seen: a sensor that is not read, a field that is never filled, a mask that
hides too much.
Evidence needed: an examination, or a training that was watched with Observe; vectors of at most some hundred numbers.
Looks alike: A number that the task does not use, or a force that no policy met: the rest foretells everything, so
nothing is missing, and it is a note. A goal that is the same in every episode, which is constant but not 0; a task of
one state, which has nothing to see.
What to change: Print the observation beside the state it is made from, and fill in what is missing or take it out of
the space.
References: four-phase method, step 2.3.
"""

from __future__ import annotations

import math

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV34",
    needs=("environment:observation",),
    step=DecisionStep.ENVIRONMENT,
    causes={"observation-dead": 7.0, "observation-insufficient": 5.0},
)


class Limits(RuleLimits):
    foretold: float = 0.7
    """Share of the change of the observation, and of the reward, from which on nothing is missing."""
    dense: float = 0.5
    """Share of steps that pay, above which rewards can be foretold at all."""
    few: float = 0.2
    """Share of the numbers below which they are what is missing only where the past foretells more."""
    noise: float = 0.2
    """Share of the reward that may be noise for that."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for numbers without life."""
    env = facts.measured
    seen, episodes, reward = env.observation, env.episodes, env.reward
    assert seen is not None
    count = len(seen.names)
    if not count or (episodes is not None and episodes.longest <= 1):
        return None
    unmoved = env.action is not None and env.action.states and not any(one.observation for one in env.action.effects)
    if seen.kind == "image" and not (len(seen.constant) == count and seen.action_lag is None and unmoved):
        # Of a picture some points stand for all, but effects of actions are looked for in the whole.
        return None
    if len(seen.constant) == count and (seen.kind in ("box", "image") or count > 1 or len(seen.zero) == count):
        summary = f"all {count} numbers of the observation are the same at every one of {env.steps:,} steps"
        return RuleResult(Severity.ERROR, 0.97, summary, (measured("constant numbers", count, 0.0, env.steps),))
    if not seen.zero:
        return None
    names = ", ".join(seen.names[index] for index in seen.zero[:6])
    summary = (
        f"{len(seen.zero)} of {count} numbers of the observation are 0 at every one of {env.steps:,} steps: {names}"
    )
    evidence = measured("numbers that are always 0", len(seen.zero), 0.0, env.steps)
    known = [(seen.explained, "of the change of the others")]
    if reward is not None and reward.nonzero > limits.dense and not reward.noise_share > limits.noise:
        known.append((reward.explained, "of the reward"))
    share, what = min((item for item in known if math.isfinite(item[0])), default=(math.nan, ""))
    # What others do by chance is not foretold by anything that is seen.
    few = len(seen.zero) < limits.few * count and not seen.explained_by_past > seen.explained
    if env.others or few or not share < limits.foretold:
        return RuleResult(Severity.INFO, 0.2, summary, (evidence,))
    missing = measured("foretold share", share, limits.foretold, env.steps)
    told = f"{summary}; what is seen foretells {100 * share:.3g}% {what}"
    return RuleResult(Severity.WARNING, 0.85, told, (evidence, missing))
