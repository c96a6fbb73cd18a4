"""An environment that was used goes on differently than a fresh one.

What it sees: After a reset with the same seed and with the same actions a used copy gives other steps than a fresh
one, though two fresh ones agree.
Why it hurts: Something of earlier episodes is left: a counter, a changed parameter, a buffer. The task changes while
it is learned.
Evidence needed: an examination of an environment whose seed determines its steps.
Looks alike: Chance that the seed does not reach, which is set aside; a curriculum by design.
What to change: Set everything in reset that step changes; keep counters of the whole life out of the dynamics.
References: tianshou#899; envpool#120; check 3 of the environment checks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "ENV43",
    needs=("environment:reset",),
    step=DecisionStep.ENVIRONMENT,
    causes={"reset-broken": 6.0, "nonstationary-task": 5.5},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Compare a used copy with a fresh one."""
    env = facts.measured
    reset, seen = env.reset, env.observation
    assert reset is not None
    # What is not a number, or never changes, is told as that.
    if not reset.carried_over or (seen is not None and (seen.not_finite or len(seen.constant) == len(seen.names))):
        return None
    words = {"start": "first observation", "observation": "observations", "reward": "rewards", "end": "ends"}
    summary = f"with the same seed and actions a used copy has other {words[reset.carried]} than a fresh one"
    return RuleResult(Severity.ERROR, 0.95, summary, (measured("used copy differs", 1.0, 0.0),))
