"""Actions, or some of them, change nothing.

What it sees: From the same state and with the same chance both ends of an action dimension, or all choices, lead to
the same observations, rewards and ends; or hardly anything comes apart while they are held for whole episodes; or
recorded actions add nothing to what foretells the next step.
Why it hurts: The policy has no influence: whatever it learns is chance.
Evidence needed: an examination of an environment that can be copied or replayed; or a training that was watched with
Observe.
Looks alike: A choice that does nothing in most states, such as opening where no door is.
What to change: Follow the action from step() to the simulation: mapping, scale, and whether another one is taken
instead.
References: four-phase method, step 2.4; check 5 of the environment checks.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV39",
    needs=("environment:action",),
    step=DecisionStep.ENVIRONMENT,
    causes={"action-without-effect": 7.5},
)


class Limits(RuleLimits):
    fewest: int = 6
    """States from which effects must have been tried."""
    hidden: float = 0.3
    """Share of states in which an action that matters does not show, at most."""
    little: float = 0.1
    """Spreads by which actions must lead apart that are held for whole episodes."""
    gain: float = 0.001
    """Share of the change that actions must add, in recorded steps."""
    known: float = 0.05
    """Share of the change that must be foretold for that to mean something."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for dimensions and choices without any effect."""
    env = facts.measured
    action, seen = env.action, env.observation
    assert action is not None
    if seen is not None and len(seen.constant) == len(seen.names) > 0 and seen.kind != "image":
        # Nothing can be seen of what actions do.
        return None
    if action.states >= limits.fewest and action.effects:
        dead = [effect.name for effect in action.effects if effect.touched == 0.0]
        whole = len(dead) == len(action.effects)
        if dead and (whole or action.kind == "box"):
            told = "no action" if whole else f"the action dimension {', '.join(dead[:6])}"
            does = "changed" if whole else "did not change"
            summary = f"{told} {does} anything in {action.states} states, tried from one end to the other"
            return RuleResult(
                Severity.ERROR,
                0.97,
                summary,
                (measured("dimensions or choices without effect", len(dead), 0.0, action.states),),
                chance=limits.hidden**action.states,
            )
        # Ends of the range may mean the same, as weights that are normalised do: single dimensions must be weak too.
        if action.authority < limits.little and max(one.observation for one in action.effects) < limits.little:
            summary = (
                "every action was held for whole episodes from the same starts, and neither an observation nor the "
                f"return came apart by more than {100 * action.authority:.2g}% of its spread"
            )
            evidence = measured("what held actions change", action.authority, limits.little, action.states)
            return RuleResult(Severity.WARNING, 0.85, summary, (evidence,))
        return None
    if seen is None or not seen.explained > limits.known or not action.gain < limits.gain:
        return None
    if seen.action_lag:
        # They do something, later.
        return None
    summary = f"actions add {100 * action.gain:.2g}% to what foretells the next observation"
    return RuleResult(
        Severity.WARNING, 0.85, summary, (measured("gain of actions", action.gain, limits.gain, env.steps),)
    )
