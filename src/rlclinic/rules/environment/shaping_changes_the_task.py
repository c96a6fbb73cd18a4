"""A shaping term is no difference of a potential, or one with another gamma.

What it sees: A component of the reward that is called shaping cannot be written as gamma * phi(s') - phi(s) with any
potential phi of the observation; or it can, with another gamma than the trainer's.
Why it hurts: Only differences of a potential leave the best policy what it is. Other terms can be earned by staying or
by going in circles, and become the task.
Evidence needed: the component in `info`, some hundred steps, at most 64 numbers in the observation; for gamma a run.
Looks alike: A potential of something that is not observed, or that jumps: it cannot be fitted.
What to change: Pay gamma * phi(s') - phi(s) with the trainer's gamma, phi = 0 at a termination and not at a time limit.
References: Ng, Harada, Russell 1999; Grzes 2017 (reward shaping in episodic reinforcement learning).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV64",
    needs=("environment:reward",),
    step=DecisionStep.REWARD,
    causes={"reward-favours-staying": 6.0, "reward-hacking": 4.0},
)


class Limits(RuleLimits):
    """What the rule judges by."""

    residual: float = 0.5
    """Part of the term that no potential explains, relative to how it varies."""
    fitted: float = 0.35
    """The same below which it is the difference of a potential."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at what the nearest potential leaves, and at its gamma."""
    env = facts.measured
    if env.shaping is None:
        return None
    shaping, gamma = env.shaping, facts.setting("gamma")
    evidence = measured("relative residual", shaping.residual, limits.residual, env.steps)
    if shaping.residual > limits.residual:
        summary = (
            f"no potential explains the shaping term {shaping.component}: {100 * shaping.residual:.3g}% of how it "
            "varies is left, so it changes which policy is best"
        )
        return RuleResult(Severity.WARNING, 0.8, summary, (evidence,))
    if gamma is None or not shaping.residual < limits.fitted or shaping.gamma != shaping.gamma:
        return None
    if abs(shaping.gamma - gamma) <= 0.2 * (1.0 - min(shaping.gamma, gamma)):
        return None
    summary = f"the shaping term {shaping.component} has gamma {shaping.gamma:g}, the trainer {gamma:g}"
    return RuleResult(Severity.WARNING, 0.8, summary, (evidence, measured("gamma of the term", shaping.gamma, gamma)))
