"""Which metric moved first when a return fell. Reward is a lagging indicator: what moved before it is nearer the root.

Order proves nothing by itself, but what began after the fall cannot have caused it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.diagnosis import MetricOnset
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.series import Series
from rlclinic.rules.registry import rules_meaning
from rlclinic.rules.rule import Sign
from rlclinic.signals._onset import Onset, onset

# Metrics that may break before the return does.
UPSTREAM = (
    "value_loss", "explained_variance", "q/mean", "q1/mean", "td_error", "entropy", "action_std/mean", "alpha",
    "grad_norm", "policy_loss", "approx_kl", "clip_fraction", "advantage/std", "advantage/abs_max", "kl_ref",
)  # fmt: skip
# Noise units that a move must measure.
CLEAR = 3.0
# Share of the climb from which on the run counts as under way; what moved before belongs to learning.
UNDER_WAY = 0.5
# A mean over the last 100 episodes shows a fall about 50 episodes late.
LATE_EPISODES = 50.0
# Share of the run by which an onset must lie after the fall to count as later.
LATER = 0.05
# A metric whose values lie this far apart grows by factors.
DECADE = 10.0
# Moves that are told.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Order:
    """The onsets in order, and the findings that began after the return fell."""

    onsets: tuple[MetricOnset, ...] = ()
    after_the_fall: frozenset[str] = frozenset()


def onset_order(facts: RunFacts, findings: Sequence[Finding]) -> Order:
    """Order the onsets around the fall of the return; empty where it did not fall."""
    curve, returns = facts.curve, facts.run.returns
    fell = any(
        finding.name in rules_meaning(Sign.RETURN_FELL) and finding.severity is not Severity.INFO
        for finding in findings
    )
    if not fell or curve is None or returns is None:
        return Order()
    window = (_under_way(curve), float(returns.steps[-1]))
    upstream = [series for name in UPSTREAM if (series := facts.series(name)) and series.axis == returns.axis]
    fall = onset(returns, "down", _delay(facts, returns), window) if upstream else None
    if fall is None:
        return Order()
    onsets = [
        _onset(series, moved)
        for series in upstream
        if (moved := onset(_in_factors(series), steps=window)) is not None and abs(moved.effect) >= CLEAR
    ]
    ordered = sorted([*onsets, _onset(returns, fall)], key=lambda onset: onset.step)
    begun = next(index for index, onset in enumerate(ordered) if onset.metric == returns.name)
    kept = ordered[max(0, begun + 1 - SHOWN) : begun + 1] + ordered[begun + 1 : max(SHOWN, begun + 1)]
    bar = fall.high_step + LATER * (window[1] - float(returns.steps[0]))
    late = frozenset(
        finding.code
        for finding in findings
        if finding.name not in rules_meaning(Sign.RETURN_FELL) and (finding.onset_step or 0.0) > bar
    )
    return Order(tuple(kept), late)


def _under_way(curve: ReturnCurve) -> float:
    """The step at which half of the climb was done."""
    half = curve.start + UNDER_WAY * curve.climb
    return next(
        (float(step) for step, value in zip(curve.steps, curve.values, strict=True) if value >= half),
        float(curve.steps[0]),
    )


def _delay(facts: RunFacts, returns: Series) -> float:
    """Steps by which the logged return lags the policy."""
    lengths = facts.level("episode_length")
    if "last" not in returns.window or "episodes" not in returns.window or lengths is None:
        return 0.0
    return LATE_EPISODES * lengths.value if returns.axis == "env_steps" else 0.0


def _in_factors(series: Series) -> Series:
    """The series, or its logarithm where it spans more than a decade: what grows by factors leaves its level long
    before it is large."""
    steps, values = finite(series)
    if not values.size or values.min() <= 0.0 or values.max() < DECADE * values.min():
        return series
    return replace(series, steps=steps, values=np.log(values), decimals=None)


def _onset(series: Series, onset: Onset) -> MetricOnset:
    steps, values = finite(series)
    before, after = values[steps < onset.step], values[steps >= onset.step]
    change = float(np.median(after) - np.median(before)) if before.size and after.size else onset.difference
    return MetricOnset(series.name, series.logged_as, onset.step, onset.low_step, onset.high_step, change)
