"""The critic gets ever worse at predicting returns that do not change.

What it sees: Explained variance is below zero and falls, and the value loss grows steadily, while the return stays
within its noise all the time.
Why it hurts: A critic that is trained on its own data cannot unlearn a steady target. Its targets are wrong: done mask
missing, rewards of another step or environment, shapes that broadcast, or targets that chase their own predictions.
Evidence needed: explained_variance, value_loss and a return, 30 points each.
Looks alike: A return that moves, which changes what is to be predicted. A diverging policy (KL, gradients). A task that
changes by itself, such as a curriculum.
What to change: Check the value targets on one batch by hand: reward, discount, done mask, shapes, order of rows.
References: RLinf#1568 ([B] against [B, 1]); DLR-RM/stable-baselines3 1.0 (last value of GAE off by one).
"""

from __future__ import annotations

from rlclinic.facts.critic import returns_vary
from rlclinic.facts.growth import growth
from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMP05",
    needs=("explained_variance", "value_loss", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.CRITIC,
)


class Limits(RuleLimits):
    negative: float = -0.5
    """Explained variance at the end: worse than predicting the mean, by half of the variance."""
    grown: float = 3.0
    """Late over early value loss, and rank correlation with time that counts as growing all along."""
    steady: float = 0.7
    same_return: float = 4.0
    """Units of noise within which the return must stay."""
    jumps: float = 0.1
    """KL in nats above which the policy itself moves too fast for its critic."""
    fewest_points: int = 30


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare early and late critics under a steady return."""
    explained, loss, curve = facts.series("explained_variance"), facts.series("value_loss"), facts.curve
    if explained is None or loss is None or curve is None:
        return None
    if min(len(explained), len(loss), curve.points) < limits.fewest_points or not returns_vary(facts):
        return None
    if curve.span > limits.same_return * curve.noise or _policy_jumps(facts, limits):
        return None
    early, late, grown = (
        facts.level("explained_variance", 0.05, 0.2),
        facts.late("explained_variance"),
        growth(loss),
    )
    if early is None or late is None or grown is None or late.value > limits.negative or late.value >= early.value:
        return None
    if grown.factor < limits.grown or grown.steadiness < limits.steady:
        return None
    summary = (
        f"explained variance fell from {early.value:z.2f} to {late.value:z.2f} and the value loss grew "
        f"{grown.factor:.3g} times while the return stayed between {curve.values.min():.4g} and "
        f"{curve.values.max():.4g}"
    )
    evidence = (
        facts.evidence("explained_variance", late.value, limits.negative, level=late, note="median of the last tenth"),
        facts.evidence("value_loss", grown.factor, limits.grown, level=grown.late, note="late over early level"),
        facts.evidence(return_name(facts), curve.span, limits.same_return * curve.noise, note="range, against noise"),
    )
    return RuleResult(Severity.WARNING, 0.6, summary, evidence, grown.onset_step)


def _policy_jumps(facts: RunFacts, limits: Limits) -> bool:
    kl = facts.series("approx_kl")
    return kl is not None and (kl.highest or 0.0) > limits.jumps
