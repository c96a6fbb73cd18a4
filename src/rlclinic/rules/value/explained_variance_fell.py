"""The critic was good and is lost: explained variance fell although returns vary as before.

What it sees: Explained variance was 0.5 or more over a tenth of the run and is now lower by 0.4 and below 0.3, while
the spread of the returns has not shrunk.
Why it hurts: The policy has moved on to states or returns that the critic cannot follow. Its advantages become raw
returns, noisy and slow to learn from, often the step before a plateau or a fall.
Evidence needed: explained_variance with at least 20 points, and value_loss.
Looks alike: A solved task: returns become constant and nothing is left to explain. A curriculum that just raised the
difficulty: it comes back.
What to change: Give the critic more: a larger value-loss weight or critic learning rate, more epochs, a longer
network; or less to follow: normalised returns, a lower learning rate of the policy.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.4; Nikishin et al. 2022 (arXiv 2205.07802).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.critic import critic_of, returns_vary
from rlclinic.facts.return_state import reached_goal
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import moving_median
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median
from rlclinic.signals.resample import resample

RULE = Rule(
    "VAL02", needs=("explained_variance", "value_loss"), algorithms=("ppo", "actor-critic"), step=DecisionStep.CRITIC
)


class Limits(RuleLimits):
    good: float = 0.5
    """Explained variance of a good critic, of a poor one, and the fall between them."""
    poor: float = 0.3
    fall: float = 0.4
    shrunk: float = 0.1
    """Variance of the targets late over that at the best time. A smaller rest may be all that was left to explain;
    a larger one means another task, or another part of it."""
    swollen: float = 5.0
    bins: int = 30
    """Bins of the course and bins of a level that held: three of thirty are a tenth of the run."""
    held: int = 3
    late: float = 0.15
    min_points: int = 20


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the best level that held with the end."""
    series, critic = facts.series("explained_variance"), critic_of(facts)
    late = facts.late("explained_variance", limits.late)
    if series is None or critic is None or late is None or critic.steps.size < limits.min_points or reached_goal(facts):
        return None
    binned = resample(series, limits.bins)
    held = moving_median(binned.values, limits.held)
    if not held.size:
        return None
    best = int(np.argmax(held))
    if (
        held[best] < limits.good
        or late.value > min(limits.poor, float(held[best]) - limits.fall)
        or not returns_vary(facts, 1 - limits.late)
    ):
        return None
    at = float(binned.steps[best + limits.held // 2])
    middle = int(np.searchsorted(critic.steps, at))
    around = slice(max(0, middle - critic.steps.size // 20), middle + critic.steps.size // 20 + 1)
    then = median(critic.variance[around])
    rest = median(critic.variance[critic.window(1 - limits.late, 1.0)]) / then if then > 0 else 0.0
    if not limits.shrunk <= rest <= limits.swollen:
        return None
    curve = facts.curve
    rising = curve is not None and curve.still_rising
    beside = f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = (
        f"explained variance fell from {held[best]:.2f} around step {at:,.0f} to {late.value:z.2f} at the end; the "
        f"variance of the value targets is {rest:.2g} times what it was{beside}"
    )
    evidence = (
        facts.evidence("explained_variance", late.value, limits.poor, level=late, note="median of the end"),
        facts.evidence(
            "explained_variance", float(held[best]) - late.value, limits.fall, note="fall from its best level"
        ),
        facts.evidence("value_loss", rest, limits.shrunk, note="variance of targets, end over best time"),
    )
    return RuleResult(Severity.INFO if rising else Severity.WARNING, 0.5 if rising else 0.65, summary, evidence, at)
