"""The entropy temperature is almost nothing although the return is not good.

What it sees: An alpha that weighs less than a thousandth of the reward of a step, after a fall of at least two orders
of magnitude or because it was fixed there, while the return is poor.
Why it hurts: Without the bonus the policy becomes deterministic and stops to explore; what it does not know by then
it will not find.
Evidence needed: alpha with at least 12 points and a return; episode lengths make it sharper.
Looks alike: Normal tuning: alpha falls while the return rises, or after the task is solved. Small rewards need a
small alpha.
What to change: Learn alpha, set the target entropy to minus the number of action dimensions, lower the learning rate
of alpha.
References: Haarnoja et al. 2018 (arXiv 1812.05905), section 5.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.growth import growth
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFF03",
    needs=("alpha", "return/train|return/eval"),
    algorithms=("continuous-q",),
    step=DecisionStep.EXPLORATION,
)


class Limits(RuleLimits):
    vanished: float = 0.01
    """Late over first alpha: working runs on dense rewards lose one order of magnitude, seldom two."""
    fixed: float = 0.99
    """How far a fixed one may move."""
    no_weight: float = 1e-3
    """Alpha times a nat as a share of the reward of a step: below it the bonus decides nothing."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare alpha with its start, with the reward of a step and with the course of the return."""
    alpha, curve = facts.series("alpha"), facts.curve
    grown = growth(alpha)
    if alpha is None or grown is None or curve is None or not failed(facts):
        return None
    start = max(float(alpha.values[0]), grown.early.value)
    fall, weight = grown.late.value / max(start, 1e-300), _weight(facts, grown.late.value)
    fell, fixed = fall <= limits.vanished, fall >= limits.fixed and weight is not None
    if not (fell or fixed) or (weight is not None and weight > limits.no_weight):
        return None
    beside = f"fell from {start:.3g} to {grown.late.value:.3g}" if fell else f"is fixed at {grown.late.value:.3g}"
    share = f", {100 * weight:.2g}% of the reward per step" if weight is not None else ""
    summary = (
        f"alpha ({alpha.logged_as}) {beside}{share}, while the return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = [facts.evidence("alpha", fall, limits.vanished, level=grown.late, note="last 10% over the start")]
    if weight is not None:
        evidence.append(
            facts.evidence("alpha", weight, limits.no_weight, level=grown.late, note="over the reward per step")
        )
    onset = float(alpha.steps[int((alpha.values < limits.vanished * start).argmax())]) if fell else None
    return RuleResult(Severity.WARNING, 0.6 if fell else 0.45, summary, tuple(evidence), onset)


def _weight(facts: RunFacts, alpha: float) -> float | None:
    """Alpha over the size of the reward of a step; None where that is not known."""
    curve, length = facts.curve, facts.late("episode_length", 0.3)
    if curve is None or length is None or length.value <= 0:
        return None
    return alpha * length.value / max(abs(curve.final), abs(curve.start), 1e-12)
