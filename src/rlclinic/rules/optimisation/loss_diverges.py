"""A loss grows by orders of magnitude, or beyond anything that training comes back from.

What it sees: The size of the policy loss (policy gradients) or of the total loss rose at least a thousandfold from
early to late, nearly without pause, beyond what a growing return explains, while the return does not improve. Or any
loss, in however few rows and of any algorithm, that ends at 1e12 times the square of the returns. Where no return is
logged, one that came there at all, or that grew ten thousandfold and beyond that size.
Why it hurts: A loss that runs away takes the weights with it; the return follows later.
Evidence needed: policy_loss or loss with at least 12 points, of a policy-gradient algorithm; the last value of a loss.
Looks alike: The total loss contains the value loss, which grows with the square of the return. Policy losses of
normalised advantages hover about zero, so only lasting size counts. The actor loss of SAC and TD3 is minus Q.
What to change: Lower the learning rate, normalise advantages, scale rewards.
References: Engstrom et al. 2020 (arXiv 2005.12729).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlclinic.facts.growth import growth
from rlclinic.facts.return_state import does_well
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "OPT07",
    needs=("policy_loss|value_loss|loss",),
    step=DecisionStep.GRADIENTS,
    means=(Sign.CRITIC_DIVERGES,),
)


class Limits(RuleLimits):
    grew: float = 1000.0
    """Late over early size, after the growth that the return explains."""
    hopeless: float = 1e6
    steady: float = 0.5
    absurd: float = 1e12
    """Size over the square of the returns that no training comes back from, in however few points."""
    unseen: float = 1e4
    """Late over early size where no return is logged, of losses that begin below 1 in units of rewards of that size."""
    fewest: int = 4


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the late size of each loss with its early one."""
    curve = facts.curve
    if (absurd := _absurd(facts, limits)) is not None:
        return absurd
    if curve is None and (unseen := _ran_away(facts, limits)) is not None:
        return unseen
    if facts.is_off_policy or does_well(facts):
        return None
    explained = 1.0
    if curve is not None:
        before = max(abs(curve.start), curve.point_noise, 1e-12)
        larger = max(abs(curve.final), abs(curve.best)) / before
        explained = max(1.0, larger * larger)
    for name in ("policy_loss", "loss"):
        series = facts.series(name)
        grown = growth(series)
        if (
            series is None
            or grown is None
            or grown.steadiness < limits.steady
            or grown.factor / explained < limits.grew
        ):
            continue
        beside = f" while the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
        summary = (
            f"the size of {series.logged_as} grew {grown.factor:.3g} times, from {grown.early.value:.3g} to "
            f"{grown.late.value:.3g}{',' if beside else ''}{beside}"
        )
        note = f"late over early size, over {explained:.3g} explained by the return"
        evidence = (facts.evidence(name, grown.factor / explained, limits.grew, level=grown.late, note=note),)
        severity = Severity.ERROR if grown.factor / explained > limits.hopeless else Severity.WARNING
        return RuleResult(severity, 0.75, summary, evidence, grown.onset_step)
    return None


def _absurd(facts: RunFacts, limits: Limits) -> RuleResult | None:
    curve = facts.curve
    returns = max(1.0, abs(curve.best), abs(curve.start)) if curve is not None else 1.0
    for name, series in _losses(facts):
        # Where no return tells what it did, one such step is enough.
        last = series.last if curve is not None else max(series.values, key=abs)
        ratio = abs(last) / returns / returns if last is not None else 0.0
        if ratio > limits.absurd:
            summary = (
                f"{series.logged_as} ended at {last:.3g}, beside returns of {returns:.4g}"
                if curve is not None
                else f"{series.logged_as} came to {last:.3g}"
            )
            evidence = (facts.evidence(name, ratio, limits.absurd, note="over the square of returns"),)
            return RuleResult(Severity.ERROR, 0.85, summary, evidence)
    return None


def _ran_away(facts: RunFacts, limits: Limits) -> RuleResult | None:
    """A loss alone, by its first and its last third; on policy a critic's grows with returns that nobody logged."""
    for name, series in _losses(facts):
        if facts.is_on_policy and name != "policy_loss":
            continue
        sizes = np.abs(series.values)
        part = max(1, sizes.size // 3)
        early, late = float(np.median(sizes[:part])), float(np.median(sizes[-part:]))
        grew = late / max(early, 1.0)
        if sizes.size >= limits.fewest and grew > limits.unseen:
            summary = f"the size of {series.logged_as} grew from {early:.3g} to {late:.3g} in {sizes.size} rows"
            evidence = (facts.evidence(name, grew, limits.unseen, note="late over early size"),)
            return RuleResult(Severity.ERROR if grew > limits.hopeless else Severity.WARNING, 0.85, summary, evidence)
    return None


def _losses(facts: RunFacts) -> list[tuple[str, Series]]:
    """Those of which values are known, each with the finite ones alone."""
    named = ((name, facts.series(name)) for name in ("value_loss", "loss", "policy_loss"))
    return [(name, finite) for name, series in named if series is not None for finite in [_finite(series)]]


def _finite(series: Series) -> Series:
    known = np.isfinite(series.values)
    return replace(series, steps=series.steps[known], values=series.values[known], wall_times=None)
