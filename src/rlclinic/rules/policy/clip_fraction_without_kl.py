"""Many probability ratios are clipped although the policy hardly moves: the clip is too tight.

What it sees: A clip fraction of 0.3 or more over the run, with a KL below 0.0005 nats per update.
Why it hurts: The clip throws away the gradient of samples that moved by a trifle, so every update ends almost where
it began, whatever the learning rate.
Evidence needed: clip_fraction and approx_kl with at least 12 points each.
Looks alike: A clip range that a schedule brings to zero at the end: the middle of the run counts. A high fraction
beside a large KL is the opposite problem. Rounded KL is judged by what its rounding may hide.
What to change: Set the clip range to 0.1 to 0.3; if it already is, compare the two metrics: they may come from
different epochs or the ratio may be computed on another action than the stored one.
References: Schulman et al. 2017 (arXiv 1707.06347), figure 1 and table 1.
"""

from __future__ import annotations

from rlclinic.facts.policy_updates import clip_range
from rlclinic.facts.return_state import is_flat
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import rounding
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("POL11", needs=("clip_fraction", "approx_kl"), algorithms=("ppo",), step=DecisionStep.UPDATE_SIZE)


class Limits(RuleLimits):
    many: float = 0.3
    """Share of the ratios that are clipped."""
    tiny: float = 5e-4
    """Nats per update: an action's probability moves by less than 2% (Pinsker)."""
    min_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the clip fraction against KL."""
    kl_series, curve = facts.series("approx_kl"), facts.curve
    fraction, kl = facts.level("clip_fraction"), facts.level("approx_kl")
    if kl_series is None or fraction is None or kl is None or min(fraction.points, kl.points) < limits.min_points:
        return None
    moved = max(abs(kl.value), rounding(kl_series))
    if fraction.value < limits.many or moved > limits.tiny:
        return None
    clip = clip_range(facts)
    known = f" at a clip range of {clip:.2g}" if clip is not None else ""
    beside = f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = f"clip fraction is {fraction.value:.2f}{known} although KL is only {moved:.2g} nats per update{beside}"
    evidence = (
        facts.evidence("clip_fraction", fraction.value, limits.many, level=fraction, note="median of the run"),
        facts.evidence("approx_kl", moved, limits.tiny, level=kl, note="median of the run, in nats"),
    )
    hurts = is_flat(facts)
    return RuleResult(Severity.WARNING if hurts else Severity.INFO, 0.75 if hurts else 0.6, summary, evidence, None)
