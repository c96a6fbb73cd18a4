"""Training updates ended well before the run did.

What it sees: Losses, KL and entropy are no longer logged, or stay exactly constant to the last digit, or the counter
of updates stands still, for a quarter of the run or more while returns go on and do not rise.
Why it hurts: Everything after that point is wasted. The usual reason is a latch: an early stop on a target KL, or a
skip of non-finite gradients, that is never reset.
Evidence needed: at least one training metric and a return on the same step axis, with 10 points after the stop.
Looks alike: A run that was ended on purpose and only evaluated afterwards. A tracker that lost one of two files: then
the return goes on rising. Values that are constant because they are rounded.
What to change: Remove the target KL or reset its flag for every batch; log the number of updates per iteration.
References: Achiam 2018, Spinning Up, PPO (the early stop ends one batch, not the run).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.return_state import reached_goal
from rlclinic.facts.returns import level_at
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median
from rlclinic.signals._shapes import points

RULE = Rule(
    "POL10",
    needs=("policy_loss|value_loss|approx_kl|entropy|loss|grad_norm", "return/train|return/eval"),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.POLICY_DEAD,),
)

# Metrics that every update writes; a constant policy may leave some of them unchanged, but not all.
LOGGED_BY_UPDATES = ("policy_loss", "value_loss", "approx_kl", "entropy", "loss", "grad_norm", "explained_variance")


class Limits(RuleLimits):
    share: float = 0.25
    """Share of the run without updates."""
    points: int = 10
    """Points of the return after the stop, and intervals between points that the gap must measure."""
    intervals: float = 10.0
    risen: float = 4.0
    """Units of the return's noise by which it may rise after the stop: a mean over past episodes follows late."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find the last step at which an update shows."""
    returns, curve = facts.run.returns, facts.curve
    if returns is None or curve is None or reached_goal(facts):
        return None
    steps, _ = finite(returns)
    trained = [series for name in LOGGED_BY_UPDATES if (series := facts.series(name)) is not None]
    trained = [series for series in trained if series.axis == returns.axis]
    if not trained or steps.size < limits.points:
        return None
    counter = facts.series("updates")
    counted = _changes_until(counter) if counter is not None and counter.axis == returns.axis else None
    stop, how = max(float(series.steps[-1]) for series in trained), "nothing is logged by updates"
    frozen = _all_frozen(trained, limits)
    if counted is not None and counted > stop:
        return None
    if counted is not None and counted < stop:
        stop, how = counted, "the counter of updates no longer grows"
    elif counted is None and frozen is not None and frozen < stop:
        stop, how = frozen, "every metric of the updates is constant to the last digit"
    span = float(steps[-1] - steps[0])
    gap = (float(steps[-1]) - stop) / span if span > 0 else 0.0
    if (
        gap < limits.share
        or int((steps > stop).sum()) < limits.points
        or not _sudden(trained[0], float(steps[-1]) - stop, limits)
    ):
        return None
    since = curve.final - level_at(curve, stop)
    if since > max(limits.risen * curve.noise, 0.3 * curve.climb):
        return None
    summary = (
        f"{how} after step {stop:,.0f}, for the last {100 * gap:.0f}% of the run; the return was "
        f"{level_at(curve, stop):.4g} there and is {curve.final:.4g} at the end"
    )
    evidence: tuple[Evidence, ...] = (
        facts.evidence(trained[0].name, stop, float(steps[-1]), note="last step with an update, last step of the run"),
        facts.evidence(returns.name, since, limits.risen * curve.noise, note="change of the return since"),
    )
    return RuleResult(Severity.ERROR, 0.85, summary, evidence, stop)


def _changes_until(series: Series) -> float | None:
    """The step of the last change of a series; None where it never changed."""
    steps, values = points(series)
    changes = np.flatnonzero(values[1:] != values[:-1])
    return float(steps[changes[-1] + 1]) if changes.size else None


def _all_frozen(trained: list[Series], limits: Limits) -> float | None:
    """The step from which on all of at least two unrounded metrics are constant, having changed before."""
    unrounded = [series for series in trained if series.decimals is None]
    if len(unrounded) < 2 or any(
        len(series) < limits.points or not np.isfinite(series.values[-1]) for series in unrounded
    ):
        return None
    last = [_changes_until(series) for series in unrounded]
    known = [step for step in last if step is not None]
    return max(known) if len(known) == len(last) else None


def _sudden(series: Series, gap: float, limits: Limits) -> bool:
    """Whether the gap is long against the usual distance of points."""
    steps, _ = finite(series)
    return steps.size > 1 and gap > limits.intervals * median(np.diff(steps))
