"""The entropy temperature outweighs the reward.

What it sees: An alpha that pays more for one nat of entropy than a step earns in reward, because it grew at least
tenfold or was set so, while the return is poor. A tenth of that where the budget is used up, the return crept, and the
actions are still as widely spread as at the start.
Why it hurts: The policy is paid for randomness more than for the task, so it stays random. Q follows the bonus and
grows with alpha.
Evidence needed: alpha with at least 12 points, a return and episode lengths.
Looks alike: Alpha that rises while the return rises: a task whose rewards grow needs more. The usual start at 1,
which tuning brings down within the first part of the run. Rewards of zero, beside which any alpha is large.
What to change: Learn alpha instead of fixing it; check the sign and size of the target entropy (minus the number of
action dimensions for continuous actions; below ln of the number of actions for discrete ones); lower the learning
rate of alpha.
References: Haarnoja et al. 2018 (arXiv 1812.05905), section 5.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import barely_moved, failed
from rlclinic.facts.growth import growth
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFF04",
    needs=("alpha", "return/train|return/eval"),
    algorithms=("continuous-q",),
    step=DecisionStep.EXPLORATION,
)


class Limits(RuleLimits):
    grew: float = 10.0
    """Late alpha over its start, and how far a fixed one may move."""
    fixed: float = 1.01
    outweighs: float = 1.0
    """Alpha times one nat over the reward of a step."""
    holds: float = 0.1
    """The same where the policy is still as wide as at its start."""
    as_wide: float = 0.95
    """Late action spread over the early one from which on a policy has not narrowed."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the late alpha against its start and against the reward of a step."""
    alpha, curve, length = facts.series("alpha"), facts.curve, facts.late("episode_length", 0.3)
    grown = growth(alpha)
    held = _held_wide(facts, limits)
    if alpha is None or grown is None or curve is None or not (held or failed(facts)):
        return None
    start = min(grown.early.value, abs(float(alpha.values[0])))
    factor = grown.late.value / max(start, 1e-300)
    # Where lengths are not logged, the return is the most that a step can be worth.
    reward = max(abs(curve.final), abs(curve.start)) / (max(length.value, 1.0) if length is not None else 1.0)
    if reward <= 0 or factor < 1.0 / limits.fixed or limits.fixed < factor < limits.grew:
        return None
    weight = grown.late.value / reward
    bar = limits.holds if held and factor < limits.grew else limits.outweighs
    if weight < bar:
        return None
    beside = f"grew from {start:.3g} to" if factor >= limits.grew else "is fixed at"
    summary = (
        f"alpha ({alpha.logged_as}) {beside} {grown.late.value:.3g}, {weight:.3g} times the reward per step "
        f"({reward:.3g}); the return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("alpha", weight, bar, level=grown.late, note="alpha over the reward per step"),
        facts.evidence("alpha", factor, limits.grew, level=grown.late, note="last 10% over the start"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence, grown.onset_step if factor >= limits.grew else None)


def _held_wide(facts: RunFacts, limits: Limits) -> bool:
    """Whether a run that crept through its budget acts as widely as at its start."""
    early, late = facts.early("action_std/mean", 0.2), facts.late("action_std/mean", 0.2)
    return early is not None and late is not None and late.value >= limits.as_wide * early.value and barely_moved(facts)
