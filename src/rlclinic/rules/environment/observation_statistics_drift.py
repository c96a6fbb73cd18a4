"""The scale of the observations that the network sees drifts, or is not what normalisation promises.

What it sees: The spread of observations grows or shrinks steadily by a factor of five or more, or lies far from 1
although observations are normalised, while the return is flat or has fallen.
Why it hurts: The network was fitted to inputs of another scale. Statistics that are frozen too early, updated at
evaluation, not saved with the policy or applied twice all show up like this.
Evidence needed: observation/std with at least 12 points, and a return.
Looks alike: A policy that comes to new states and therefore sees larger values while it improves.
What to change: Update the statistics during training only, save and load them with the policy, and clip to +-10; check
that normalisation is applied once.
References: SB3 issues 1063 and 870; DLR-RM/rl-baselines3-zoo#275; Engstrom et al. 2020 (arXiv 2005.12729).
"""

from __future__ import annotations

from rlclinic.facts.growth import growth
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals.drift import drift

RULE = Rule("ENV12", needs=("observation/std", "return/train|return/eval"), step=DecisionStep.ENVIRONMENT)


class Limits(RuleLimits):
    factor: float = 5.0
    """Late over early spread, either way."""
    far_from_one: float = 5.0
    """Spread of normalised observations that is no longer near 1, either way."""
    steady: float = 0.7
    """Share of the course that one steady drift must explain."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Measure the drift of the spread and its distance from 1."""
    series = facts.series("observation/std")
    grown, late = growth(series), facts.late("observation/std")
    if series is None or grown is None or late is None or not suffers(facts):
        return None
    factor = max(grown.factor, 1.0 / grown.factor) if grown.factor > 0 else 0.0
    drifts = factor >= limits.factor and drift(series).share >= limits.steady
    normalised = bool(facts.run.config.get("normalize_obs"))
    off = normalised and not 1.0 / limits.far_from_one < late.value < limits.far_from_one
    if not drifts and not off:
        return None
    said = f"went from {grown.early.value:.3g} to {grown.late.value:.3g}" if drifts else f"is {late.value:.3g}"
    beside = " although observations are normalised" if normalised else ""
    summary = f"{series.logged_as}, the spread of observations, {said}{beside}, and the return does not rise"
    evidence = (
        facts.evidence(series.name, factor, limits.factor, level=grown.late, note="late over early spread, either way"),
        facts.evidence(series.name, late.value, limits.far_from_one if normalised else None, level=late, note="spread"),
    )
    return RuleResult(Severity.WARNING, 0.65, summary, evidence, grown.onset_step)
