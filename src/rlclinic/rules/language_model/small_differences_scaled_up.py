"""Rewards within a group hardly differ, and their division by the spread blows the difference up.

What it sees: The spread of rewards within groups falls to a twentieth of what it was, few groups are tied, advantages
are divided by that spread, and the score does not rise.
Why it hurts: The best and the worst answer of a group get full advantages for a difference that is noise of the reward.
Evidence needed: reward/std and zero_variance_groups, or the largest and the smallest score of a batch, with at least 12
points; the score.
Looks alike: Groups that are tied exactly, which teach nothing; a score near its ceiling.
What to change: Do not divide by the spread of the group (verl: algorithm.norm_adv_by_std_in_grpo=False, TRL:
scale_rewards=none or batch), or round the reward to what differs.
References: Liu et al. 2025 (Dr. GRPO, arXiv 2503.20783).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.language_model import (
    MIN_POINTS,
    MOSTLY,
    WINDOW,
    change,
    is_near_ceiling,
    is_progressing,
    told,
    training,
)
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR37",
    needs=("return/train", "reward/std|return/train_max"),
    algorithms=("language-model",),
    step=DecisionStep.ADVANTAGES,
    causes={"loss-aggregation-biased": 4.5},
)
# Values of the setting that leave the spread of the group alone.
NOT_BY_GROUP = frozenset({"False", "none", "batch"})


class Limits(RuleLimits):
    small: float = 0.05
    """Late over early spread below which differences are small: twenty times what was told apart before."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the late with the early spread."""
    by = facts.run.config.get("normalize_by_std")
    if str(by) in NOT_BY_GROUP or training(facts) is None or is_progressing(facts) or is_near_ceiling(facts):
        return None
    tied, spread, range_ = facts.late("zero_variance_groups", WINDOW), change(facts, "reward/std"), _ranges(facts)
    name = "reward/std"
    if spread is not None and tied is not None and tied.value < MOSTLY:
        early, late = spread[0].value, spread[1].value
    elif range_ is not None:
        (early, late), name = range_, "return/train_max"
    else:
        return None
    if early <= 0.0 or not 0.0 < late < limits.small * early:
        return None
    what = "the spread of rewards" if name == "reward/std" else "the range of scores in a batch"
    summary = f"{what} fell from {early:.3g} to {late:.3g}, and advantages are divided by it; {told(facts)}"
    evidence = (facts.evidence(name, late / early, limits.small, note="late over early spread"),)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence)


def _ranges(facts: RunFacts) -> tuple[float, float] | None:
    """The largest less the smallest score of a batch, early and late: no group differs by more."""
    high, low = facts.series("return/train_max"), facts.series("return/train_min")
    if high is None or low is None or len(high) < MIN_POINTS or not np.array_equal(high.steps, low.steps):
        return None
    ranges = high.values - low.values
    some = max(3, int(WINDOW * ranges.size))
    return float(np.nanmedian(ranges[:some])), float(np.nanmedian(ranges[-some:]))
