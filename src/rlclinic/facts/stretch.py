"""Stretches of a series: where a condition holds without a break, and from when on it lasts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.series import FloatArray, Series

Mask = NDArray[np.bool_]

# Share of the later points that may break a condition that still counts as lasting.
EXCEPTIONS = 0.1


def longest(mask: Mask) -> tuple[int, int] | None:
    """First index and end (exclusive) of the longest unbroken stretch."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    if not edges.size:
        return None
    starts, ends = edges[::2], edges[1::2]
    best = int(np.argmax(ends - starts))
    return int(starts[best]), int(ends[best])


def lasting_from(steps: FloatArray, mask: Mask) -> float | None:
    """The first step from which on the condition holds, single exceptions apart."""
    if not mask.size:
        return None
    later = np.cumsum(mask[::-1])[::-1] / np.arange(mask.size, 0, -1)
    holds = np.flatnonzero(mask & (later >= 1.0 - EXCEPTIONS))
    return float(steps[holds[0]]) if holds.size else None


def moving_median(values: FloatArray, width: int) -> FloatArray:
    """Median of the last `width` points at every point, so that a single spike does not count."""
    if values.size < width:
        return np.empty(0)
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    result: FloatArray = np.median(windows, axis=1)
    return result


def finite(series: Series) -> tuple[FloatArray, FloatArray]:
    """Steps and values of the finite points."""
    kept = np.isfinite(series.values)
    if np.logical_and.reduce(kept):
        return series.steps, series.values
    return series.steps[kept], series.values[kept]


def rounding(series: Series) -> float:
    """What a printed zero may hide: half a unit of the last decimal."""
    return 0.0 if series.decimals is None else 0.5 * 10.0**-series.decimals
