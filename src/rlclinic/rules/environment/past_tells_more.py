"""What comes next follows from the past, not from what is seen.

What it sees: The next observation follows from the last two observations and actions together, and hardly from the
present ones alone; or actions change what later steps pay and nothing that is seen; or the same step ends or pays
otherwise in another episode and never within one.
Why it hurts: What is needed to act is not observed: a policy without memory cannot do well.
Evidence needed: some hundred steps with a continuous observation of at most 64 numbers.
Looks alike: Games with hidden cards or walls, in which not all can be seen by design: use memory there.
What to change: Put the missing numbers (velocities, the goal, the last action) into the observation, or stack some
observations.
References: check 2 of the environment checks; Mnih et al. 2015 (frame stacking).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV38",
    needs=("environment:observation",),
    # Nothing foretells what grows without bound.
    covered_by=("ENV32",),
    step=DecisionStep.ENVIRONMENT,
    causes={"observation-insufficient": 7.0, "observation-corrupted": 4.0},
)


class Limits(RuleLimits):
    left: float = 0.2
    """What the past leaves open over what the present does."""
    jumps: float = 0.004
    """Share of steps that restart the task beyond which nothing is said."""
    lasting: float = 0.5
    """Share of states in which an action must change what later steps pay."""
    hidden: float = 0.002
    """Share of steps that another episode told wrongly."""
    present: float = 0.7
    """Share that the present may foretell at most."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare what the present and what the past foretell."""
    env = facts.measured
    seen = env.observation
    assert seen is not None
    effects = env.action.effects if env.action is not None else ()
    lasting = [effect.lasting for effect in effects if effect.observation == 0.0]
    if effects and len(lasting) == len(effects) and min(lasting) > limits.lasting:
        summary = "actions change what later steps pay, and nothing of the observation"
        evidence = measured("states in which later pay differs", min(lasting), limits.lasting)
        return RuleResult(Severity.ERROR, 0.9, summary, (evidence,))
    if seen.hidden > limits.hidden:
        summary = (
            f"{100 * seen.hidden:.2g}% of the steps end or pay otherwise than the same observation and action did in "
            "another episode, none otherwise than before in their own: what an episode keeps, as its goal, is not seen"
        )
        evidence = measured("steps that another episode told wrongly", seen.hidden, limits.hidden, env.steps)
        return RuleResult(Severity.WARNING, 0.85, summary, (evidence,))
    if env.episodes is not None and env.episodes.restarts > limits.jumps:
        # A jump is foretold by nothing, and by what came before it.
        return None
    left = (1.0 - seen.explained_by_past) / max(1.0 - seen.explained, 1e-9)
    if not (left < limits.left and seen.explained < limits.present):
        return None
    summary = (
        f"the present observation and action foretell {100 * seen.explained:.3g}% of what changes next, with the "
        f"two steps before {100 * seen.explained_by_past:.3g}%"
    )
    return RuleResult(
        Severity.WARNING, 0.85, summary, (measured("left open by the past", left, limits.left, env.steps),)
    )
