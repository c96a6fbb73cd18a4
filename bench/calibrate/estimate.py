"""Log-likelihood ratios from counts, drawn towards the values set by hand where there are few instances."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench.calibrate.evidence import Evidence
from rlclinic.causes.catalogue import UNKNOWN
from rlclinic.causes.weights import CauseWeights

SMOOTHING = 1.0
"""Instances that behave like the average run, added to those of a cause: no rate is ever 0 or 1."""
TRUST_IN_HAND = 2.0
"""Instances that a value set by hand is worth."""
SMALLEST, LARGEST = 0.3, 6.5
"""Weights below say nothing and would fill the table; weights above would let one finding decide alone."""
DIGITS = 1
NEW_PRIOR = 0.01
"""Of a cause that the table does not have yet: that of its rarer rows."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A row of the table and what it rests on."""

    row: CauseWeights
    instances: int
    """Of the calibration part; 0 where the row is set by hand."""


def estimate(
    table: Mapping[str, CauseWeights], seen: Sequence[Evidence], *, trust: float = TRUST_IN_HAND
) -> dict[str, Estimate]:
    """Every row. Priors, settings and conditions stay: how often faults occur is the benchmark's choice and no fact."""
    by_cause: dict[str, list[Evidence]] = defaultdict(list)
    for one in seen:
        by_cause[one.cause].append(one)
    names = {name for one in seen for name in one.fired}
    found = {}
    for cause in (*table, *sorted(set(by_cause) - set(table))):
        row = table.get(cause, CauseWeights(NEW_PRIOR))
        own = by_cause.get(cause, [])
        if not own or cause == UNKNOWN:
            found[cause] = Estimate(row, 0)
            continue
        others = {other: runs for other, runs in by_cause.items() if other != cause}
        found[cause] = Estimate(_row(row, own, others, names, trust), len({one.instance for one in own}))
    return found


def _row(
    row: CauseWeights,
    own: Sequence[Evidence],
    others: Mapping[str, Sequence[Evidence]],
    names: set[str],
    trust: float,
) -> CauseWeights:
    weights, expects = {}, {}
    for name in sorted(names | set(row.weights) | set(row.expects)):
        background = _background(name, others)
        fired, checked = _count(name, own)
        rate = (fired + SMOOTHING * background) / (checked + SMOOTHING)
        present = _drawn(math.log(rate / background), row.weights.get(name, 0.0), checked, trust)
        absent = _drawn(math.log((1 - background) / (1 - rate)), row.expects.get(name, 0.0), checked, trust)
        if abs(present) >= SMALLEST:
            weights[name] = present
        # Only a sign whose absence speaks against the cause is expected.
        if absent >= SMALLEST:
            expects[name] = absent
    order = sorted(weights, key=lambda name: -weights[name])
    return replace(row, weights={name: weights[name] for name in order}, expects=expects)


def _drawn(measured: float, by_hand: float, checked: float, trust: float) -> float:
    value = (trust * by_hand + checked * measured) / (trust + checked)
    return round(max(-LARGEST, min(LARGEST, value)), DIGITS)


def _background(name: str, others: Mapping[str, Sequence[Evidence]]) -> float:
    """How often it fires where another cause is at work; every cause counts the same, however many runs it has."""
    rates = []
    for runs in others.values():
        fired, checked = _count(name, runs)
        if checked:
            rates.append(fired / checked)
    return (sum(rates) + 0.5) / (len(rates) + 1.0)


def _count(name: str, runs: Sequence[Evidence]) -> tuple[float, float]:
    """Instances in which it fired, and in which it could."""
    checked = [one for one in runs if name not in one.unchecked]
    return sum(one.weight for one in checked if name in one.fired), sum(one.weight for one in checked)
