"""The error of the Q function grows by orders of magnitude instead of shrinking.

What it sees: The Q loss or temporal-difference error rose at least a thousandfold from the early part of the run to
its end, nearly without pause and far more than the return's own growth explains.
Why it hurts: Targets move faster than the network can follow: the critic diverges, and a policy that follows it
learns nothing. In offline training this is extrapolation error.
Evidence needed: value_loss or td_error with at least 12 points.
Looks alike: A loss that grows with the square of a growing return; the first reward found on a sparse task; the first
points, before the buffer has any variety.
What to change: Lower the learning rate of the critic, slow the target network, clip or scale rewards, use Huber loss.
Offline: raise conservatism or stay closer to the data.
References: van Hasselt et al. 2018 (arXiv 1812.02648); Kumar et al. 2019 (arXiv 1906.00949).
"""

from __future__ import annotations

from rlclinic.facts.growth import growth
from rlclinic.facts.return_state import does_well
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFF05", needs=("value_loss|td_error",), algorithms=("q-learning", "continuous-q"), step=DecisionStep.CRITIC
)


class Limits(RuleLimits):
    grew: float = 1000.0
    """Late over early loss, after the growth that the return explains."""
    hopeless: float = 1e5
    steady: float = 0.7


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the growth of the error with that of the squared return."""
    curve = facts.curve
    for name in ("value_loss", "td_error"):
        series = facts.series(name)
        grown = growth(series)
        if series is None or grown is None or grown.steadiness < limits.steady:
            continue
        explained = _explained(facts) if name == "value_loss" else _explained(facts) ** 0.5
        factor = grown.factor / explained
        if factor < limits.grew or does_well(facts):
            continue
        beside = f" while the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
        summary = (
            f"{series.logged_as} grew {grown.factor:.3g} times, from {grown.early.value:.3g} to {grown.late.value:.3g}"
            f"{',' if beside else ''}{beside}"
        )
        evidence = (
            facts.evidence(
                name, factor, limits.grew, level=grown.late, note=f"late over early, over {explained:.3g} explained"
            ),
        )
        severity = Severity.ERROR if factor > limits.hopeless else Severity.WARNING
        return RuleResult(severity, 0.85, summary, evidence, grown.onset_step)
    return None


def _explained(facts: RunFacts) -> float:
    """Growth of a squared error when targets grow like the return."""
    curve = facts.curve
    if curve is None:
        return 1.0
    before = max(abs(curve.start), curve.point_noise, 1e-12)
    after = max(abs(curve.final), abs(curve.best), before)
    return (after / before) * (after / before)
