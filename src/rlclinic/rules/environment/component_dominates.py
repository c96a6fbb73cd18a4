"""One part of the reward outweighs all others.

What it sees: Of the logged reward components one has nearly all of the size, or of the variance over the run.
Why it hurts: What the other parts ask for does not reach the policy. If the part is a penalty, doing nothing may be
the best answer; if it is a bonus, the agent may collect it without doing the task.
Evidence needed: at least two reward components with at least 12 points; the success rate tells whether it hurts.
Looks alike: A reward with one main part and small penalties by design, where the task is learned.
What to change: Weigh the components so that each changes the return by a similar amount over the range of behaviour
that matters; look at how the total changes when one component is left out.
References: Amodei et al. 2016 (arXiv 1606.06565); Knox et al. 2023 (arXiv 2104.13906).
"""

from __future__ import annotations

from rlclinic.facts.return_state import is_flat
from rlclinic.facts.returns import return_curve
from rlclinic.facts.reward_parts import RewardPart, reward_parts
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("ENV10", needs=("reward/*",), step=DecisionStep.REWARD)


class Limits(RuleLimits):
    min_points: int = 12
    nearly_all: float = 0.9
    """Share of the summed size (and of the summed variance) of all components."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the components with each other."""
    parts = reward_parts(facts)
    if len(parts) < 2:
        return None
    size, variance = sum(abs(part.late) for part in parts), sum(part.variance for part in parts)
    if size <= 0 or variance <= 0:
        return None
    first = max(parts, key=lambda part: abs(part.late))
    by_size, by_variance = abs(first.late) / size, first.variance / variance
    if by_size < limits.nearly_all or by_variance < limits.nearly_all:
        return None
    hurt = _hurts(facts, first, limits)
    summary = (
        f"{first.series.logged_as} makes {100 * by_size:.3g}% of the size and {100 * by_variance:.3g}% of the "
        f"variance of {len(parts)} reward components (late mean {first.late:.3g}){hurt}"
    )
    evidence = (
        facts.evidence(first.series.name, by_size, limits.nearly_all, note="share of the summed sizes, last 20%"),
        facts.evidence(
            first.series.name, by_variance, limits.nearly_all, note="share of the summed variances over the run"
        ),
    )
    return RuleResult(Severity.WARNING if hurt else Severity.INFO, 0.6, summary, evidence)


def _hurts(facts: RunFacts, part: RewardPart, limits: Limits) -> str:
    """A penalty that is nearly the whole reward of a flat run, or a bonus that rises without success."""
    if part.late < 0 and is_flat(facts):
        return ", a penalty, and the return does not rise"
    success = facts.curve_of("success_rate/eval", "success_rate")
    own = return_curve(part.series)
    if success is None or own is None or success.points < limits.min_points:
        return ""
    if own.improved and not success.improved and not success.still_rising:
        return f", and rises while the success rate stays at {success.final:.3g}"
    return ""
