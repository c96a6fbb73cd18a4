"""From the first row to the last the return is far below what untrained policies earn on the task.

What it sees: On a well-known task whose episodes all have one length, not one level of the return comes within six
standard deviations of what random actions earn: all lie below it, those of the untrained policy too.
Why it hurts: Before anything is learned, no trainer can be to blame. Actions arrive in other units, at the edge of
their range, or a term of the reward costs more than it does on the task; the gradient there says little.
Evidence needed: a return and the episode length at the same steps, on a task whose random return rlclinic knows.
Looks alike: A policy that large updates destroyed before the first row was written (its return would have begun near
that of random actions in a denser log). Rewards that were scaled on purpose.
What to change: Play ten episodes of random actions in the very environment that trains, wrappers included, and compare
with the table; print the bounds of the action space and the actions that arrive.
References: random returns measured with Gymnasium 1.3.0.
"""

from __future__ import annotations

from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_departure import FAR_BELOW, departure
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV22", needs=("return/train|return/eval", "episode_length|episode_length/eval"), step=DecisionStep.ENVIRONMENT
)


class Limits(RuleLimits):
    far: float = FAR_BELOW
    """Standard deviations of single random episodes."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Say how far below random actions the whole run lies."""
    found, curve = departure(facts), facts.curve
    if found is None or found.below is None or curve is None:
        return None
    mean, spread = found.task.random_mean or 0.0, found.task.random_std or 1.0
    away = (mean - found.below) / spread
    if away < limits.far:
        return None
    summary = (
        f"the return is about {found.below:.4g} from the first row on; random actions earn {mean:.4g} on "
        f"{found.task.name} (standard deviation {spread:.3g})"
    )
    evidence = (facts.evidence(return_name(facts), away, limits.far, note="standard deviations below random actions"),)
    return RuleResult(Severity.INFO if curve.rising else Severity.WARNING, 0.8, summary, evidence)
