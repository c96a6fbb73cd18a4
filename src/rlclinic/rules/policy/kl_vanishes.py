"""The policy hardly moves: updates run, but each changes almost nothing.

What it sees: KL of single updates is below a fiftieth of what the clip range stands for in every part of the run, the
clip fraction is near zero, the entropy is where it began, and the return is flat.
Why it hurts: At this pace the policy of the end is the policy of the start. The sum of sqrt(KL / 2) over all updates
bounds the change of any action's probability (Pinsker).
Evidence needed: approx_kl with at least 15 points, several gradient steps per batch, a return; clip range where
known.
Looks alike: One gradient step per batch: KL is zero by construction. A solved task. A schedule that ends at zero. A
printed 0.000 only says that KL is below half a unit of the last decimal. A policy that is deterministic already.
What to change: Compare the gradient norm with its clip and the learning rate with a reference config before raising
anything: a huge value gradient under a shared clip, or a huge reward scale, looks the same as a tiny learning rate.
References: Schulman et al. 2017 (arXiv 1707.06347); Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.7.
"""

from __future__ import annotations

import math

from rlclinic.facts.exploration import ceiling, dead_from_start
from rlclinic.facts.policy_updates import clip_kl, clip_range
from rlclinic.facts.return_state import is_flat, return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, rounding
from rlclinic.facts.update_count import policy_updates, steps_per_batch
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "POL05",
    needs=("approx_kl", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.POLICY_FROZEN,),
)


class Limits(RuleLimits):
    tiny: float = 0.02
    """Share of the KL at which all ratios stand at the clip; working runs show a tenth to a half."""
    usual_clip: float = 0.2
    """Clip range where none is known: the default of nearly every framework."""
    jump: float = 0.02
    """Nats: one update of this size shows that the policy did move, and may have been destroyed by it."""
    rounding_noise: float = 1e-9
    """KL that float32 rounding alone leaves on a ratio of exactly 1."""
    moved: float = 0.02
    """Share of the greatest entropy by which the entropy may have moved."""
    unclipped: float = 0.01
    """Greatest clip fraction that still counts as none."""
    nothing_changed: float = 0.1
    """Change of an action's probability that all updates together could have made."""
    chance: float = 0.25
    """Share of its start by which the return of an unchanged policy may seem to rise."""
    min_points: int = 8


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Bound how far the policy can have moved."""
    kl, curve = facts.series("approx_kl"), facts.curve
    if kl is None or curve is None or facts.is_language_model or len(finite(kl)[0]) < limits.min_points:
        return None
    per_batch, largest = steps_per_batch(facts), _largest(facts, kl)
    if largest is None or float(finite(kl)[1].max()) > limits.jump or (per_batch is not None and per_batch <= 1.0):
        return None
    if dead_from_start(facts) or (per_batch is None and largest <= limits.rounding_noise):
        return None
    bar = limits.tiny * clip_kl(clip_range(facts) or limits.usual_clip)
    count = policy_updates(facts, "approx_kl")
    bound = count * math.sqrt(largest / 2.0)
    # A bound this tight outweighs a return that only wanders.
    chance = bound < limits.nothing_changed and curve.gain < limits.chance * abs(curve.start)
    if largest > bar or _stirred(facts, limits) or not (is_flat(facts) or chance):
        return None
    return _sighting(facts, curve, largest, bar, count, bound, limits)


def _sighting(
    facts: RunFacts, curve: ReturnCurve, largest: float, bar: float, count: float, bound: float, limits: Limits
) -> RuleResult:
    hopeless = bound < limits.nothing_changed
    reach = f"; {count:.0f} updates of that size move a probability by at most {bound:.2g}" if hopeless else ""
    summary = (
        f"KL of single updates is at most {largest:.2g} nats in every quarter (0.001 to 0.02 is common){reach}; "
        f"the return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("approx_kl", largest, bar, note="largest quarter's median, or what its rounding may hide"),
        facts.evidence(return_name(facts), curve.gain, 3 * curve.scatter, note="gain from start to end"),
    )
    return RuleResult(Severity.WARNING, 0.9 if hopeless else 0.7, summary, evidence, None)


def _largest(facts: RunFacts, kl: Series) -> float | None:
    """The largest median of the quarters, in size: a k1 estimate may be negative."""
    levels = [facts.level("approx_kl", i / 4, (i + 1) / 4) for i in range(4)]
    sizes = [abs(level.value) for level in levels if level is not None]
    return max(max(sizes), rounding(kl)) if sizes else None


def _stirred(facts: RunFacts, limits: Limits) -> bool:
    """Whether another metric shows that the policy moved after all."""
    clipped, top = facts.level("clip_fraction"), ceiling(facts)
    if clipped is not None and clipped.value > limits.unclipped:
        return True
    early, late = facts.early("entropy"), facts.late("entropy")
    if early is None or late is None or top is None:
        return False
    return abs(late.value - early.value) > limits.moved * max(abs(top), abs(early.value))
