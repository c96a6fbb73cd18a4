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

from rlclinic.facts.course import course_of
from rlclinic.facts.critic import returns_vary
from rlclinic.facts.growth import growth
from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.result import RuleResult

# Explained variance at the end: worse than predicting the mean, by half of the variance.
NEGATIVE = -0.5
# Late over early value loss, and rank correlation with time that counts as growing all along.
GROWN = 3.0
STEADY = 0.7
# Units of noise within which the return must stay.
SAME_RETURN = 4.0
# KL in nats above which the policy itself moves too fast for its critic.
JUMPS = 0.1
FEWEST_POINTS = 30


def check(facts: RunFacts) -> RuleResult | None:
    """Compare early and late critics under a steady return."""
    explained, loss, course = facts.series("explained_variance"), facts.series("value_loss"), course_of(facts)
    if explained is None or loss is None or course is None:
        return None
    if min(len(explained), len(loss), course.outcome.points) < FEWEST_POINTS or not returns_vary(facts):
        return None
    if course.span > SAME_RETURN * course.unit or _policy_jumps(facts):
        return None
    early, late, grown = (
        facts.level("explained_variance", 0.05, 0.2),
        facts.late("explained_variance"),
        growth(loss),
    )
    if early is None or late is None or grown is None or late.value > NEGATIVE or late.value >= early.value:
        return None
    if grown.factor < GROWN or grown.steadiness < STEADY:
        return None
    summary = (
        f"explained variance fell from {early.value:.2g} to {late.value:.2g} and the value loss grew "
        f"{grown.factor:.3g} times while the return stayed between {course.outcome.curve.min():.4g} and "
        f"{course.outcome.curve.max():.4g}"
    )
    evidence = (
        facts.evidence("explained_variance", late.value, NEGATIVE, level=late, note="median of the last tenth"),
        facts.evidence("value_loss", grown.factor, GROWN, level=grown.late, note="late over early level"),
        facts.evidence(return_name(facts), course.span, SAME_RETURN * course.unit, note="range, against noise"),
    )
    return RuleResult(Severity.WARNING, 0.6, summary, evidence, grown.onset_step)


def _policy_jumps(facts: RunFacts) -> bool:
    kl = facts.series("approx_kl")
    return kl is not None and (kl.highest or 0.0) > JUMPS
