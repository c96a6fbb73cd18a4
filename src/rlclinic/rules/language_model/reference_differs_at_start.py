"""The policy differs from its reference before the first update.

What it sees: The KL to the reference is clearly above zero at the first step, and most of what it ever becomes.
Why it hurts: The KL term is meant to hold the policy near its own start. Against another model it pulls it elsewhere
from the first step on.
Evidence needed: kl_ref from the first update on, and later points to compare with.
Looks alike: On-policy distillation, where the reference is a teacher by design; a first logged point that is a mean
over many updates; differences of precision, which are far smaller.
What to change: Load the reference from the same checkpoint, template and precision as the policy, without dropout; if
a teacher is meant, keep its coefficient small.
References: slime's own test asserts a KL below 1e-8 at step 0; a verl run with a 32B teacher began at 0.83.
"""

from __future__ import annotations

from rlclinic.facts.language_model import MIN_POINTS, is_falling, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.model.series import FloatArray
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("LMR04", needs=("kl_ref",), algorithms=("language-model", "ppo"))


class Limits(RuleLimits):
    clearly: float = 0.02
    """Nats per token: a hundred times what differences of precision leave."""
    most_of_it: float = 0.2
    """Share of the largest KL of the run that the first one must be."""
    first_update: float = 1.0
    early: float = 0.1
    """Share of the run in which a first value that is logged later must lie."""
    far: float = 0.5
    """Nats per token that such a value must be, and that leave next to no doubt: policies that began at their reference
    stay well below."""
    came_down: float = 0.5
    """Late over first KL: a policy that began at its reference moves away from it."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the first KL to the reference."""
    series = facts.series("kl_ref")
    if series is None or len(series) < MIN_POINTS:
        return None
    steps, values = finite(series)
    first, largest = float(values[0]), float(values.max())
    if first < limits.clearly or first < limits.most_of_it * largest:
        return None
    is_first = series.axis in ("updates", "iterations") and steps[0] <= limits.first_update
    if not is_first and not _comes_down(facts, steps, first, limits):
        return None
    other = _other_model(facts)
    summary = (
        f"{series.logged_as} is {first:.3g} at the first step (largest of the run {largest:.3g}){other}; {told(facts)}"
    )
    evidence = (facts.evidence("kl_ref", first, limits.clearly, note="KL to the reference at the first step, nats"),)
    # A reference that the config names apart may be a teacher: it is a fault only where the score suffers.
    harmless = not is_falling(facts) if other else is_progressing(facts)
    severity = Severity.INFO if harmless else Severity.WARNING
    # What a policy is pulled to it comes near: away from it something else moves the policy, and the KL only counts it.
    pulled = (late := facts.late("kl_ref")) is not None and late.value < first
    confidence = 0.4 if harmless else 0.6 if first < limits.far else 0.85 if pulled else 0.5
    return RuleResult(severity, confidence, summary, evidence, float(steps[0]))


def _comes_down(facts: RunFacts, steps: FloatArray, first: float, limits: Limits) -> bool:
    """Whether a value that was logged after some updates can only be of another model."""
    late = facts.late("kl_ref")
    soon = steps[0] <= limits.early * steps[-1]
    return soon and first > limits.far and late is not None and late.value < limits.came_down * first


def _other_model(facts: RunFacts) -> str:
    policy, reference = facts.run.config.get("model"), facts.run.config.get("reference_model")
    if not isinstance(policy, str) or not isinstance(reference, str) or policy == reference:
        return ""
    return f": the reference is {reference.rstrip('/').rpartition('/')[2]}, another model than the policy"
