"""Resample a series onto at most 500 points without losing gaps, spikes or the noise within a bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.series import FloatArray
from rlclinic.signals._scale import power_of_two, restored
from rlclinic.signals._shapes import QUARTILES, Centre, Curve, Data, points, resolution

BINS = 500
"""Most points of a curve: quadratic methods take about a millisecond on this many."""
SKEWED = 4
"""Bins of equal width are given up when fewer than one in this many holds a point: the step axis has outliers."""
NORMAL_QUARTILES = 1.349
"""Distance between the quartiles of a standard normal."""

Starts = NDArray[np.intp]


def resample(data: Data, bins: int = BINS, centre: Centre = "robust") -> Curve:
    """Resample onto bins of equal width in steps.

    Points that share a step are one point of the curve. A series of at most `bins` distinct steps keeps
    every step. A curve that is short enough is returned as it is.
    """
    if isinstance(data, Curve) and len(data) <= bins:
        return data
    steps, values = points(data)
    n = int(values.size)
    if n == 0:
        none = np.empty(0)
        return Curve(none, none, none, none, none, np.empty(0, dtype=np.intp), n=0, resolution=resolution(data))
    starts = _starts(steps, bins)
    if starts.size == n:
        curve = Curve(steps, values, values, values, np.zeros(n), np.ones(n, dtype=np.intp), n, resolution(data))
    else:
        curve = _binned(steps, values, starts, centre, resolution(data))
    return _thinned(curve, data, starts) if isinstance(data, Curve) else curve


def _starts(steps: FloatArray, bins: int) -> Starts:
    """Index of the first point of each bin that holds one."""
    n = int(steps.size)
    distinct = np.flatnonzero(np.concatenate(([True], steps[1:] > steps[:-1])))
    if distinct.size <= bins:
        return distinct
    wanted = distinct.size // -(-distinct.size // bins)
    half = steps / 2.0
    width = (half[-1] - half[0]) * (1.0 + 1.0 / (distinct.size - 1)) / wanted
    # The small shift keeps a point that lies on an edge in the bin it opens, whatever the rounding.
    edges = half[0] + width * (np.arange(wanted) - 1e-9)
    edges[0] = half[0]
    starts = np.unique(np.searchsorted(half, edges, side="left"))
    starts = starts[starts < n]
    if starts.size * SKEWED < wanted:
        return distinct[np.arange(wanted) * distinct.size // wanted]
    return starts


def _binned(steps: FloatArray, values: FloatArray, starts: Starts, centre: Centre, printed: float) -> Curve:
    unit = power_of_two(values)
    scaled = values / unit
    counts = np.diff(starts, append=values.size)
    means = np.add.reduceat(scaled, starts) / counts
    table = _table(scaled, counts)
    middle = means if centre == "mean" else (_pick(table, (counts - 1) // 2) + _pick(table, counts // 2)) / 2.0
    origin = steps[0]
    return Curve(
        steps=origin + np.add.reduceat(steps - origin, starts) / counts,
        values=restored(middle, unit),
        low=restored(_pick(table, np.zeros_like(counts)), unit),
        high=restored(_pick(table, counts - 1), unit),
        spread=restored(_spread(scaled, table, means, starts, counts), unit),
        counts=counts,
        n=int(values.size),
        resolution=printed,
    )


def _table(values: FloatArray, counts: Starts) -> FloatArray:
    """One row per bin, sorted, padded with infinity."""
    table = np.full((counts.size, int(counts.max())), np.inf)
    table[np.arange(table.shape[1]) < counts[:, None]] = values
    table.sort(axis=1)
    return table


def _pick(table: FloatArray, column: Starts) -> FloatArray:
    picked: FloatArray = table[np.arange(column.size), column]
    return picked


def _spread(values: FloatArray, table: FloatArray, means: FloatArray, starts: Starts, counts: Starts) -> FloatArray:
    """Distance of the quartiles as a standard deviation, or that itself where quartiles say nothing."""
    squares = np.add.reduceat((values - np.repeat(means, counts)) ** 2, starts)
    deviation = np.sqrt(squares / np.maximum(counts - 1, 1))
    quartiles = (_pick(table, counts * 3 // 4) - _pick(table, counts // 4)) / NORMAL_QUARTILES
    return np.where((counts >= QUARTILES) & (quartiles > 0), quartiles, deviation)


def _thinned(curve: Curve, before: Curve, starts: Starts) -> Curve:
    """What a second resampling must take from the points instead of the first curve."""
    members = np.diff(starts, append=before.values.size)
    inner = np.add.reduceat(before.spread / np.repeat(members, members), starts)
    return Curve(
        steps=curve.steps,
        values=curve.values,
        low=np.minimum.reduceat(before.low, starts),
        high=np.maximum.reduceat(before.high, starts),
        spread=restored(np.hypot(curve.spread / 2.0, inner / 2.0), 2.0),
        counts=np.add.reduceat(before.counts, starts),
        n=before.n,
        resolution=before.resolution,
    )
