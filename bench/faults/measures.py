"""Numbers over rows of answers, each with an interval from resampling environments."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.faults.bases import base_of
from bench.faults.examine import EXAMINES, Answer, Row
from rlclinic.causes.catalogue import UNKNOWN, catalogue
from rlclinic.model.series import FloatArray

RESAMPLES, COVERAGE = 1000, 0.95
SLOW_RESAMPLES = 300
"""Of a number that is no mean and has to be computed anew for each."""
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


NOTHING = Share(float("nan"), float("nan"), float("nan"), 0)


def environment(row: Row) -> str:
    """What is resampled."""
    return base_of(row.entry.instance.base).environment


def algorithm(row: Row) -> str:
    """Of the run."""
    return base_of(row.entry.instance.base).algorithm


def share(rows: Iterable[Row], value: Value) -> Share:
    """The mean of a value; the interval is a bootstrap over environments, which differ more than seeds do."""
    groups = [np.array([value(row) for row in group]) for group in _by_environment(rows)]
    if not groups:
        return NOTHING
    sums, sizes = np.array([group.sum() for group in groups]), np.array([group.size for group in groups])
    drawn = np.random.default_rng(0).integers(len(groups), size=(RESAMPLES, len(groups)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return _share(float(sums.sum() / sizes.sum()), means, int(sizes.sum()))


def spread(rows: Sequence[Row], statistic: Callable[[Sequence[Row]], float]) -> Share:
    """The same for a number that is no mean of the rows."""
    groups = _by_environment(rows)
    if not groups:
        return NOTHING
    drawn = np.random.default_rng(0).integers(len(groups), size=(SLOW_RESAMPLES, len(groups)))
    found = np.array([statistic([row for at in chosen for row in groups[at]]) for chosen in drawn])
    return _share(statistic(rows), found, len(rows))


def _by_environment(rows: Iterable[Row]) -> list[list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[environment(row)].append(row)
    return list(found.values())


def _share(value: float, resampled: FloatArray, runs: int) -> Share:
    tail = (1 - COVERAGE) / 2
    low, high = (float(limit) for limit in np.quantile(resampled, [tail, 1 - tail]))
    return Share(value, low, high, runs)


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


def leads_there(count: int, pick: Pick) -> Value:
    """Whether one of the first so many next steps treats an accepted cause or examines the environment."""
    return lambda row: float(any(not {*row.accepted, EXAMINES}.isdisjoint(step) for step in pick(row).steps[:count]))


def alarm(pick: Pick) -> Value:
    """Whether it says that something is wrong."""
    return lambda row: float(pick(row).alarm)


def changes(pick: Pick) -> Value:
    """Whether it advises to change a setting."""
    return lambda row: float(pick(row).changes > 0)


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


def delay(row: Row, onset: Mapping[str, float]) -> float:
    """Share of the budget from the onset of the effect until an accepted cause first leads; never counts to the end."""
    start = onset.get(row.entry.instance.name, 0.0)
    seen = [part for part, answer in sorted(row.parts.items()) if answer.leading in row.accepted and part >= start]
    return max((seen[0] if seen else 1.0) - start, 0.0)


def confusions(rows: Sequence[Row], pick: Pick, most: int) -> list[tuple[str, str, int]]:
    """(fault, what led instead, runs), the commonest first."""
    wrong: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if not top(1, pick)(row):
            wrong[row.entry.instance.name.partition("@")[0], pick(row).leading] += 1
    return [(fault, said, count) for (fault, said), count in wrong.most_common(most)]
