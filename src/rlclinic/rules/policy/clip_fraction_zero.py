"""No probability ratio was ever clipped, and the return is flat.

What it sees: The clip fraction is zero, or below what its rounding shows, at nearly every point of the run, with
several gradient steps per batch and a flat return.
Why it hurts: Either the policy does not move (tiny steps, a gradient clip that leaves nothing, a part that is not
trained), or the scale hides it: a huge value loss under a shared gradient clip, or a very wide clip range.
Evidence needed: clip_fraction with at least 20 points, a return, and several gradient steps per batch.
Looks alike: One gradient step per batch: zero by construction. A run that learns with small steps: the return rises.
A solved task. A policy that is deterministic already.
What to change: Nothing on this evidence alone. Look at KL, at the gradient norm before clipping against its clip, and
at the scale of the value loss; they tell which of the two it is.
References: Schulman et al. 2017 (arXiv 1707.06347); Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.1.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.exploration import dead_from_start
from rlclinic.facts.policy_updates import clip_range
from rlclinic.facts.return_state import is_flat, return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, rounding
from rlclinic.facts.update_count import steps_per_batch
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "POL07", needs=("clip_fraction", "return/train|return/eval"), algorithms=("ppo",), step=DecisionStep.UPDATE_SIZE
)


class Limits(RuleLimits):
    none: float = 1e-3
    """Clip fraction that counts as none: one sample in a thousand."""
    nearly_all: float = 0.9
    """Share of the points that must show none."""
    some: float = 0.05
    """Clip fraction of a single point that shows that the policy did move once."""
    moves: float = 1e-9
    """KL that proves more than one gradient step per batch where the config does not tell; above float32
    rounding."""
    min_points: int = 20


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the points at which anything was clipped."""
    fraction, curve, per_batch = facts.series("clip_fraction"), facts.curve, steps_per_batch(facts)
    if fraction is None or curve is None or facts.is_language_model:
        return None
    _, values = finite(fraction)
    if (
        values.size < limits.min_points
        or rounding(fraction) > limits.none
        or not is_flat(facts)
        or dead_from_start(facts)
    ):
        return None
    share = float(np.mean(values <= limits.none))
    if share < limits.nearly_all or values.max() > limits.some or not _several_steps(facts, per_batch, limits):
        return None
    clip, kl = clip_range(facts), facts.level("approx_kl")
    known = f" at a clip range of {clip:.3g}" if clip is not None else ""
    moved = f", KL {kl.value:.2g} nats" if kl is not None else ""
    summary = (
        f"clip fraction is zero at {100 * share:.0f}% of {values.size} points{known}{moved}, and the return went from "
        f"{curve.start:.4g} to {curve.final:.4g}: either nothing moves or the scale hides it"
    )
    evidence = (
        facts.evidence("clip_fraction", share, limits.nearly_all, note="share of the points that show at most 0.001"),
        facts.evidence(return_name(facts), curve.gain, 3 * curve.scatter, note="gain from start to end"),
    )
    return RuleResult(Severity.WARNING, 0.6, summary, evidence, None)


def _several_steps(facts: RunFacts, per_batch: float | None, limits: Limits) -> bool:
    if per_batch is not None:
        return per_batch > 1.0
    kl = facts.level("approx_kl")
    return kl is not None and abs(kl.value) > limits.moves
