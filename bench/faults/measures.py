"""Numbers over rows of answers, each with an interval from resampling environments."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.faults.bases import bases
from bench.faults.examine import Answer, Row
from rlclinic.causes.catalogue import UNKNOWN, catalogue

RESAMPLES, COVERAGE = 1000, 0.95
SURE = 0.5
"""Probability from which on a leading cause is told as if it were so."""
BINS = 10
"""Of the reliability table."""

Value = Callable[[Row], float]
Pick = Callable[[Row], Answer]


@dataclass(frozen=True, slots=True)
class Share:
    """A mean with its interval."""

    value: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        if not self.runs:
            return "–"
        return f"{self.value:.3f} [{self.low:.2f}, {self.high:.2f}] ({self.runs})"


def environment(row: Row) -> str:
    """What is resampled."""
    return bases()[row.entry.instance.base].environment


def algorithm(row: Row) -> str:
    """Of the run."""
    return bases()[row.entry.instance.base].algorithm


def share(rows: Iterable[Row], value: Value) -> Share:
    """The mean of a value; the interval is a bootstrap over environments, which differ more than seeds do."""
    by_environment: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_environment[environment(row)].append(value(row))
    groups = [np.array(values, dtype=float) for values in by_environment.values()]
    if not groups:
        return Share(float("nan"), float("nan"), float("nan"), 0)
    sums, sizes = np.array([group.sum() for group in groups]), np.array([group.size for group in groups])
    drawn = np.random.default_rng(0).integers(len(groups), size=(RESAMPLES, len(groups)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    tail = (1 - COVERAGE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Share(float(sums.sum() / sizes.sum()), float(low), float(high), int(sizes.sum()))


def with_config(row: Row) -> Answer:
    """Everything read."""
    return row.with_config


def metrics_only(row: Row) -> Answer:
    """Without the config file."""
    return row.metrics_only


def top(count: int, pick: Pick) -> Value:
    """Whether an accepted cause is among the first so many."""
    return lambda row: float(any(cause in row.accepted for cause, _, _ in pick(row).causes[:count]))


def right_class(pick: Pick) -> Value:
    """Whether the leading cause is of the class of an accepted one."""
    entries = catalogue()
    return lambda row: float(
        bool(pick(row).causes) and pick(row).causes[0][1] in {entries[cause].cause_class for cause in row.accepted}
    )


def alarm(pick: Pick) -> Value:
    """Whether it says that something is wrong."""
    return lambda row: float(pick(row).alarm)


def alarm_in_part(row: Row) -> float:
    """Whether it says so at any moment of the run."""
    return float(any(answer.alarm for answer in row.parts.values()))


def reliability(rows: Sequence[Row], pick: Pick) -> tuple[list[tuple[float, float, float, int]], float]:
    """(from, mean confidence, share right, runs) by bin of confidence, and the expected calibration error."""
    answered = [row for row in rows if pick(row).causes]
    if not answered:
        return [], float("nan")
    confidence = np.array([pick(row).confidence for row in answered])
    right = np.array([top(1, pick)(row) for row in answered])
    table, error = [], 0.0
    for place in range(BINS):
        inside = (confidence >= place / BINS) & ((confidence < (place + 1) / BINS) | (place == BINS - 1))
        if inside.any():
            sure, share_right = float(confidence[inside].mean()), float(right[inside].mean())
            table.append((place / BINS, sure, share_right, int(inside.sum())))
            error += abs(sure - share_right) * inside.sum() / len(answered)
    return table, error


def risk_coverage(rows: Sequence[Row], pick: Pick) -> list[tuple[float, float]]:
    """(share answered, share right of those), answering the surest first; `unknown` is no answer."""
    answered = [row for row in rows if pick(row).leading != UNKNOWN]
    ranked = sorted(answered, key=lambda row: -pick(row).confidence)
    found = []
    for tenth in range(1, 11):
        chosen = ranked[: round(len(rows) * tenth / 10)]
        if chosen and len(chosen) >= round(len(rows) * tenth / 10):
            found.append((tenth / 10, float(np.mean([top(1, pick)(row) for row in chosen]))))
    return found


def delays(rows: Sequence[Row], onset: Mapping[str, float]) -> list[float]:
    """Share of the budget from the onset of the effect until an accepted cause first leads; never counts to the end."""
    found = []
    for row in rows:
        start = onset.get(row.entry.instance.name, 0.0)
        seen = [part for part, answer in sorted(row.parts.items()) if answer.leading in row.accepted]
        last = 1.0 if row.metrics_only.leading in row.accepted else None
        first = next((part for part in seen if part >= start), last)
        found.append(max((first if first is not None else 1.0) - start, 0.0))
    return found


def confusions(rows: Sequence[Row], pick: Pick, most: int) -> list[tuple[str, str, int]]:
    """(fault, what led instead, runs), the commonest first."""
    wrong: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if not top(1, pick)(row):
            wrong[row.entry.instance.name.partition("@")[0], pick(row).leading] += 1
    return [(fault, said, count) for (fault, said), count in wrong.most_common(most)]
