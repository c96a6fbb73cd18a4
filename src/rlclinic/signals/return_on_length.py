"""How the return of an episode depends on its length: paid per step, charged per step, or neither."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._robust import median, robust_scale
from rlclinic.signals._scale import bounded, power_of_two
from rlclinic.signals._shapes import points
from rlclinic.signals._slope import slopes

LEAST = 6
"""Pairs below which a slope means nothing."""
PAIRS = 200
"""Episodes the slope is taken from, evenly spread over the run."""

SAMPLE = 20_000
"""Returns, evenly spread over the run, for which a length of the same step is looked up."""


@dataclass(frozen=True, slots=True)
class ReturnOnLength:
    """A robust line through (length, return)."""

    n: int
    """Pairs of a return and a length logged at one step."""
    enough: bool
    """Whether there are pairs of at least two lengths."""
    slope: float = math.nan
    """Return per step of the episode."""
    explained: float = math.nan
    """Share of the scatter of the returns that the line explains, by robust scales: 1 is exact."""


def return_on_length(returns: Series | FloatArray, lengths: Series | FloatArray) -> ReturnOnLength:
    """Fit returns on lengths; series are paired by step, arrays by position."""
    length, gain = _paired(returns, lengths)
    n = int(gain.size)
    chosen = np.arange(min(n, PAIRS)) * n // max(1, min(n, PAIRS))
    length, gain = length[chosen], gain[chosen]
    if n < LEAST or float(length.min()) == float(length.max()):
        return ReturnOnLength(n, enough=False)
    run, unit = power_of_two(length), power_of_two(gain)
    x, y = length / run, gain / unit
    width = float(np.ptp(x))
    order = np.argsort(x, kind="stable")
    pairs = slopes(x[order], y[order])
    rise = pairs.middle
    intercept = median(y - (rise / width) * x)
    residual = y - (rise / width) * x - intercept
    scatter = robust_scale(y)
    per_step = bounded(unit / run) / width
    return ReturnOnLength(
        n=n,
        enough=True,
        slope=bounded(rise * per_step),
        explained=1.0 - min(1.0, robust_scale(residual) / scatter) ** 2 if scatter > 0.0 else math.nan,
    )


def _paired(returns: Series | FloatArray, lengths: Series | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lengths and returns of the same episodes."""
    (at, gain), (when, length) = _all(returns), _all(lengths)
    if at.size == when.size and bool((at == when).all()):
        both = np.isfinite(gain) & np.isfinite(length)
        return length[both], gain[both]
    (at, gain), (when, length) = points(returns), points(lengths)
    if when.size == 0:
        return length, gain[:0]
    if at.size > SAMPLE:
        chosen = np.arange(SAMPLE) * at.size // SAMPLE
        at, gain = at[chosen], gain[chosen]
    nearest = np.minimum(np.searchsorted(when, at, side="left"), when.size - 1)
    same = when[nearest] == at
    return length[nearest[same]], gain[same]


def _all(data: Series | FloatArray) -> tuple[FloatArray, FloatArray]:
    if isinstance(data, Series):
        return data.steps, data.values
    values = np.asarray(data, dtype=np.float64).ravel()
    return np.arange(values.size, dtype=np.float64), values
