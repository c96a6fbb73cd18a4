"""Metrics beside the bands that known-good runs had at the same share of their budget."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rlclinic.comparison.partings import FOLLOWERS
from rlclinic.model.comparison import BandPoint, MetricInBand
from rlclinic.model.run import Run
from rlclinic.model.series import FloatArray, Series
from rlclinic.model.vocabulary import metric
from rlclinic.reference.known_good import SHARES, KnownGood

# Standard deviations over seeds, pooled over neighbouring stretches, that make half a band.
HALF_WIDTH = 3.0
# Stretches on either side over which the deviation is pooled: three seeds alone say little about their scatter.
NEIGHBOURS = 2
# Least half width, as a share of the range that the metric went through: noise within a stretch.
LEAST_WIDTH = 0.03
# Positive metrics that span more than this factor are compared by their logarithms.
SPAN = 10.0
# Stretches outside in a row, up to the end, that are no accident.
LASTING = 2
# Names whose size follows that of the reward, and a loss whose value means nothing by itself.
SCALED = frozenset({"value_loss", "grad_norm", "advantage", "td_error", "q"})
MEANINGLESS = frozenset({"policy_loss", "loss", "total_loss"})


def levels(series: Series, budget: float) -> FloatArray:
    """The mean of a metric in each twentieth of a budget; nan where nothing was logged."""
    steps = series.steps[np.isfinite(series.values)]
    values = series.values[np.isfinite(series.values)]
    kept = (steps >= 0) & (steps <= budget * (1 + 1.0 / SHARES))
    places = np.clip(np.ceil(steps[kept] / budget * SHARES).astype(int) - 1, 0, SHARES - 1)
    counts = np.bincount(places, minlength=SHARES)
    sums = np.bincount(places, weights=values[kept], minlength=SHARES)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def band(name: str, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end of a metric for each stretch, from one row for each seed; nan where none logged anything."""
    finite = rows[np.isfinite(rows)]
    logs = finite.size > 0 and finite.min() > 0 and finite.max() > SPAN * finite.min()
    rows = np.log(rows) if logs else rows
    filled = np.isfinite(rows)
    counts = np.maximum(filled.sum(axis=0), 1)
    centre = np.where(filled.any(axis=0), np.nansum(rows, axis=0) / counts, np.nan)
    squares = np.where(filled, (rows - centre) ** 2, 0.0).sum(axis=0)
    window = np.ones(2 * NEIGHBOURS + 1)
    freedom = np.convolve(np.maximum(filled.sum(axis=0) - 1, 0), window, mode="same")
    deviation = np.sqrt(np.convolve(squares, window, mode="same") / np.maximum(freedom, 1))
    spread = np.ptp(rows[filled]) if filled.any() else 0.0
    half = np.maximum(HALF_WIDTH * deviation, LEAST_WIDTH * spread)
    low, high = centre - half, centre + half
    low, high = (np.exp(low), np.exp(high)) if logs else (low, high)
    entry = metric(name)
    return (low, high) if entry is None else (np.maximum(low, entry.low), np.minimum(high, entry.high))


def metrics_in_band(run: Run, budget: float, good: KnownGood, *, same_scale: bool) -> tuple[MetricInBand, ...]:
    """Every diagnostic metric that both have, the farthest outside first."""
    found: list[tuple[float, MetricInBand]] = []
    left_out = MEANINGLESS if same_scale else MEANINGLESS | SCALED
    for name in _shared(run, good, left_out):
        series = run.series[name]
        here = levels(series, budget)
        low, high = band(name, good.metrics[name])
        both = np.flatnonzero(np.isfinite(here) & np.isfinite(low))
        if not both.size:
            continue
        beyond = np.maximum(np.maximum(low - here, here - high), 0.0)[both]
        outside = beyond > 0
        inside = np.flatnonzero(~outside)
        first = int(inside[-1]) + 1 if inside.size else 0
        lasts = outside.size - first >= min(LASTING, outside.size)
        last = int(both[-1])
        entry = MetricInBand(
            name,
            series.logged_as,
            float(here[last]),
            float(low[last]),
            float(high[last]),
            float(outside.mean()),
            float(both[first]) / SHARES if lasts and first < outside.size else None,
        )
        width = np.maximum((high - low)[both], 1e-12)
        found.append((float(np.mean(np.minimum(beyond / width, 10.0))), entry))
    found.sort(key=lambda pair: -pair[0])
    return tuple(entry for _, entry in found)


def return_in_band(run: Run, good: KnownGood) -> tuple[str, tuple[BandPoint, ...]]:
    """The name of the return that both have, and its points over env steps, up to the budget of the known-good runs."""
    returns = run.returns
    if returns is None or returns.axis != "env_steps" or returns.name not in good.metrics:
        return "", ()
    here = levels(returns, good.budget)
    low, high = band(returns.name, good.metrics[returns.name])
    places = np.flatnonzero(np.isfinite(here) & np.isfinite(low))
    ends = np.minimum((places + 1) / SHARES * good.budget, returns.last_step or np.inf)
    found = zip(ends, here[places], low[places], high[places], strict=True)
    return returns.name, tuple(BandPoint(*map(float, point)) for point in found)


def _shared(run: Run, good: KnownGood, left_out: Collection[str]) -> list[str]:
    names = [name for name in good.metrics if name in run.series and metric(name) is not None]
    unwanted = set(FOLLOWERS) | set(left_out)
    return [name for name in names if name.partition("/")[0] not in unwanted and len(run.series[name])]
