"""The environment returns numbers that are not finite.

What it sees: Steps whose observation or reward is NaN or infinite.
Why it hurts: One such number makes every weight NaN at the next update; a filter that replaces it by a constant hides
it.
Evidence needed: an examination, or a training that was watched with Observe.
Looks alike: An observation space with entries that mean "nothing seen" by infinity: encode them otherwise.
What to change: Find the first such step (division by zero, log of zero, a simulation that diverged) and end the
episode before it.
References: Stable-Baselines3 VecCheckNan; Andy Jones 2021, Debugging RL.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult, Sign

RULE = Rule(
    "ENV31",
    needs=("environment:observation", "environment:reward"),
    step=DecisionStep.NUMBERS,
    means=(Sign.MISCONFIGURED,),
    causes={"physics-unstable": 6.5, "numerical-failure": 6.0, "exception": 1.0},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Count them."""
    env = facts.measured
    assert env.observation is not None
    assert env.reward is not None
    count = max(env.observation.not_finite, env.reward.not_finite)
    if not count:
        return None
    summary = f"{count:,} of {env.steps:,} steps returned an observation or reward that is not a finite number"
    return RuleResult(Severity.ERROR, 0.98, summary, (measured("not finite", count, 0.0, env.steps),))
