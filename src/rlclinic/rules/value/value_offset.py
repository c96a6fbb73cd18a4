"""The critic is off by a constant that explained variance does not show.

What it sees: The mean prediction differs from the mean target by more than half of the target's size over the last
third of the run, although explained variance is good or not logged. Where no target is logged, the mean prediction is
several times away from any level that return, episode length and discount allow.
Why it hurts: Explained variance ignores a constant error, but bootstrapped targets and advantages at episode ends do
not: episodes that end look better or worse than those that go on.
Evidence needed: value/mean, and value/target; or a return, episode_length and the discount.
Looks alike: Normalised values or rewards: the two are then in different units. Early training. Targets near zero.
What to change: Check that terminal states are not bootstrapped and that time limits are; that returns are
denormalised before they are compared; that the discount of a reward normaliser is that of the algorithm.
References: Pardo et al. 2018 (arXiv 1712.00378); failure of explained variance: 1 - Var(error) / Var(target) drops
the mean.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule(
    "VAL08",
    needs=("value/mean", "value/target|episode_length"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.CRITIC,
)


class Limits(RuleLimits):
    off: float = 0.5
    """Difference of the means over the size of the target."""
    far_off: float = 3.0
    """How many times beyond the possible range an estimate must lie."""
    good: float = 0.3
    """Explained variance from which on the critic counts as good."""
    after: float = 0.67
    min_points: int = 12


LIMITS = Limits()
# Frameworks that log values after normalisation.
NORMALISED = frozenset({"sample-factory", "skrl"})


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the mean prediction with the mean target, or with what it could be at most."""
    value, explained = facts.level("value/mean", limits.after), facts.late("explained_variance", 1.0 - limits.after)
    series = facts.series("value/mean")
    if series is None or value is None or len(series) < limits.min_points or facts.is_language_model:
        return None
    if explained is not None and explained.value < limits.good:
        return None
    target = facts.level("value/target", limits.after)
    if target is not None:
        return _against_target(facts, value, target, limits)
    return _against_return(facts, value, limits)


def _against_target(facts: RunFacts, value: WindowLevel, target: WindowLevel, limits: Limits) -> RuleResult | None:
    series = facts.series("value/target")
    if series is None or np.ptp(series.values[np.isfinite(series.values)]) == 0.0:
        return None
    size = max(abs(target.value), 3.0 * target.spread, 3.0 * value.spread)
    off = abs(value.value - target.value) / size if size > 0.0 else 0.0
    if off < limits.off:
        return None
    hurts = suffers(facts)
    summary = (
        f"the mean prediction is {value.value:.4g} where the mean target is {target.value:.4g} over the last third"
    )
    evidence = (
        facts.evidence("value/mean", value.value, target.value, level=value, note="median, against the mean target"),
        facts.evidence("value/mean", off, limits.off, level=value, note="difference over the size of the target"),
    )
    return RuleResult(Severity.WARNING if hurts else Severity.INFO, 0.65 if hurts else 0.5, summary, evidence, None)


def _against_return(facts: RunFacts, value: WindowLevel, limits: Limits) -> RuleResult | None:
    curve, length, gamma = facts.curve, facts.level("episode_length", limits.after), facts.setting("gamma")
    if curve is None or length is None or gamma is None or not 0.0 < gamma < 1.0 or length.value < 2.0:
        return None
    if facts.run.config.get("normalize_reward") or facts.run.framework in NORMALISED:
        return None
    total = median(curve.values[int(limits.after * curve.values.size) :])
    if abs(total) < 5.0 * curve.scatter:
        return None
    most = abs(total) / length.value / (1.0 - gamma)
    # Mean over an episode of the discounted return to go, for rewards spread evenly.
    even = most * (1.0 - gamma * (1.0 - gamma**length.value) / (length.value * (1.0 - gamma)))
    low, high = even / limits.far_off, most * limits.far_off
    if low <= value.value * np.sign(total) <= high:
        return None
    summary = (
        f"the mean prediction is {value.value:.4g}; a return of {total:.4g} over {length.value:.4g} steps at a "
        f"discount of {gamma:g} allows about {np.sign(total) * even:.3g} to {np.sign(total) * most:.3g}"
    )
    evidence = (
        facts.evidence(
            "value/mean", value.value, float(np.sign(total) * even), level=value, note="against even rewards"
        ),
    )
    return RuleResult(Severity.INFO, 0.45, summary, evidence, None)
