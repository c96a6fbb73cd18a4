"""Continuations of the last stretch of a curve: flat, straight and saturating fits of block-bootstrapped copies."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray

LEAST = 6
"""Points a stretch holds at least."""
DECAYS = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Time constants of the saturating fits, in lengths of the stretch."""
SHAPES = 2 + len(DECAYS)
"""Flat, straight, and one shape per time constant, in this order."""
REPLICATES = 64
"""Copies of the stretch."""
LONGEST_MOVE = 0.5
"""Moves are taken over at most this share of the past; longer ones grow with the root of time."""
TURNED = 0.25
"""Share of the moves of the past that are repeated in the other direction."""
EXACT = 1e-12
"""Mean squared residual of a fit that is exact, for values of order one."""
FASTEST = 700.0
"""Largest exponent: what has decayed further is gone."""


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """For each copy (row) and shape (column), level = a + b * g(t), and how well it fits."""

    a: FloatArray
    b: FloatArray
    score: FloatArray
    """Bayesian information criterion, for correlated points."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The last part of a curve, with time from 0 to 1 over it, and the fits to it."""

    start: float
    """Position of its first point in the series, which runs from 0 to 1."""
    width: float
    y: FloatArray
    shapes: FloatArray
    own: Fits
    misfit: float
    """Standard deviation around the best fit."""


def stretch(x: FloatArray, y: FloatArray, share: float, memory: float) -> Stretch:
    """The last `share` of a curve; `memory` points are worth one independent point."""
    first = max(0, min(int(np.searchsorted(x, 1.0 - share)), y.size - LEAST))
    start, width, y = float(x[first]), float(x[-1] - x[first]), y[first:]
    t = (x[first:] - start) / width
    shapes = np.stack([_shape(index, t) for index in range(SHAPES)])
    own = _fit(y[None], shapes, memory)
    return Stretch(start, width, y, shapes, own, float((y - _course(own, shapes)).std()))


def continued(
    part: Stretch, horizon: float, bar: float, memory: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Levels at the horizon, and times at which the bar is crossed (infinite for never), of each copy."""
    course = _course(part.own, part.shapes)
    fits = _fit(course + _blocks(part.y - course, memory, rng), part.shapes, memory)
    chosen = _choose(fits.score, rng)
    rows = np.arange(REPLICATES)
    end = (horizon - part.start) / part.width
    levels, times = _future(fits.a[rows, chosen], fits.b[rows, chosen], chosen, end, bar)
    return levels, part.start + times * part.width


def repeated(
    x: FloatArray, smoothed: FloatArray, horizon: float, bar: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The same for futures that move on by as much as the curve moved between two points of its past.

    No fit foresees the next turn; the turns of the past say how large it may be.
    """
    ahead = horizon - 1.0
    lag = min(max(ahead, 1.0 / x.size), LONGEST_MOVE)
    starts = rng.uniform(0.0, 1.0 - lag, REPLICATES)
    before, after = np.interp(starts, x, smoothed), np.interp(starts + lag, x, smoothed)
    moves = (after - before) * np.where(rng.random(REPLICATES) < TURNED, -1.0, 1.0) * math.sqrt(ahead / lag)
    now = float(smoothed[-1])
    levels = now + moves
    reached = levels >= bar
    times = np.full(REPLICATES, np.inf)
    times[reached] = 1.0 if now >= bar else 1.0 + ahead * (bar - now) / moves[reached]
    return levels, times


def _course(own: Fits, shapes: FloatArray) -> FloatArray:
    best = int(np.argmin(own.score[0]))
    course: FloatArray = own.a[0, best] + own.b[0, best] * shapes[best]
    return course


def _shape(index: int, t: FloatArray) -> FloatArray:
    """g of one shape."""
    if index < 2:
        return t * index
    return -np.exp(-np.minimum(t / DECAYS[index - 2], FASTEST))


def _fit(copies: FloatArray, shapes: FloatArray, memory: float) -> Fits:
    """Least squares of every copy by every shape."""
    n = shapes.shape[1]
    middles = shapes.mean(axis=1)
    centred = shapes - middles[:, None]
    powers = (centred**2).sum(axis=1)
    means = copies.mean(axis=1)[:, None]
    b = (copies @ centred.T) / np.maximum(powers, EXACT)
    total = ((copies - means) ** 2).sum(axis=1)[:, None]
    errors = np.maximum(total - b**2 * powers, 0.0) / n + EXACT
    independent = max(3.0, n / memory)
    saturating = math.log(independent) + 2.0 * math.log(len(DECAYS))
    cost = np.array([0.0, math.log(independent), *(saturating for _ in DECAYS)])
    return Fits(means - b * middles, b, independent * np.log(errors) + cost)


def _blocks(residual: FloatArray, memory: float, rng: np.random.Generator) -> FloatArray:
    """Copies of the residuals made of blocks long enough to keep their correlation."""
    n = int(residual.size)
    length = int(min(max(2.0, 2.0 * memory), max(2.0, n / 3.0)))
    starts = rng.integers(0, n - length + 1, size=(REPLICATES, -(-n // length)))
    index = (starts[:, :, None] + np.arange(length)).reshape(REPLICATES, -1)[:, :n]
    copies: FloatArray = (residual - residual.mean())[index]
    return copies


def _choose(scores: FloatArray, rng: np.random.Generator) -> NDArray[np.intp]:
    """One shape per copy, drawn by how well each fits it."""
    weights = np.exp(-0.5 * np.minimum(scores - scores.min(axis=1, keepdims=True), 2.0 * FASTEST))
    shares = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    drawn: NDArray[np.intp] = np.minimum((shares < rng.random((REPLICATES, 1))).sum(axis=1), SHAPES - 1)
    return drawn


def _future(
    a: FloatArray, b: FloatArray, chosen: NDArray[np.intp], end: float, bar: float
) -> tuple[FloatArray, FloatArray]:
    ends = np.array([float(_shape(index, np.array(end))) for index in range(SHAPES)])[chosen]
    nows = np.array([float(_shape(index, np.array(1.0))) for index in range(SHAPES)])[chosen]
    levels = a + b * ends
    times = np.where(a + b * nows >= bar, 1.0, np.inf)
    later = (times > 1.0) & (levels >= bar)
    needed = (bar - a[later]) / b[later]
    decays = np.array([np.nan, np.nan, *DECAYS])[chosen[later]]
    straight = chosen[later] == 1
    with np.errstate(divide="ignore", invalid="ignore"):
        times[later] = np.where(straight, needed, -decays * np.log(-needed))
    return levels, times
