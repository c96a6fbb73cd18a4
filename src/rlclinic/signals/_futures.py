"""Continuations of the last stretch of a curve: flat, straight and saturating fits of block-bootstrapped copies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.series import FloatArray

LEAST = 6
"""Points a stretch holds at least."""
DECAYS = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Time constants of the saturating fits, in lengths of the stretch."""
FLAT, STRAIGHT = 0.0, math.inf
"""Time constants that stand for the flat and the straight fit."""
REPLICATES = 64
"""Copies of the stretch."""
EXACT = 1e-12
"""Mean squared residual of a fit that is exact, for values of order one."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One kind of fit: level = a + b * g(t), where t runs from 0 to 1 over the stretch."""

    decay: float
    basis: FloatArray
    inverse: FloatArray
    """Maps values to coefficients."""
    prior: float

    def course(self, t: float) -> float:
        """g at a time."""
        if self.decay == FLAT:
            return 0.0
        return t if self.decay == STRAIGHT else -math.exp(-min(t / self.decay, 700.0))


def continued(
    x: FloatArray, y: FloatArray, share: float, horizon: float, bar: float, memory: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Levels at the horizon, and times at which the bar is crossed (infinite for never), of each copy.

    Positions `x` run from 0 to 1 over the series, so the horizon is beyond 1; `memory` is the number of
    points that are worth one independent point.
    """
    start = max(0, min(int(np.searchsorted(x, 1.0 - share)), y.size - LEAST))
    width = float(x[-1] - x[start])
    t, y = (x[start:] - x[start]) / width, y[start:]
    end = (horizon - float(x[start])) / width
    shapes = _shapes(t)
    fits = np.stack([shape.basis @ (shape.inverse @ y) for shape in shapes])
    best = fits[int(np.argmin(_scores(np.stack([y - fit for fit in fits])[:, None], shapes, memory)[:, 0]))]
    copies = best + _blocks(y - best, memory, rng)
    chosen = _choose(copies, shapes, memory, rng)
    levels, times = np.empty(REPLICATES), np.full(REPLICATES, np.inf)
    for index, shape in enumerate(shapes):
        rows = chosen == index
        levels[rows], times[rows] = _future(copies[rows] @ shape.inverse.T, shape, end, bar)
    return levels, float(x[start]) + times * width


def _shapes(t: FloatArray) -> list[Shape]:
    shapes = []
    for decay in (FLAT, STRAIGHT, *DECAYS):
        columns = [np.ones(t.size)]
        if decay == STRAIGHT:
            columns.append(t)
        elif decay != FLAT:
            columns.append(-np.exp(-t / decay))
        basis = np.column_stack(columns)
        prior = 1.0 if decay in (FLAT, STRAIGHT) else 1.0 / len(DECAYS)
        shapes.append(Shape(decay, basis, np.linalg.pinv(basis), prior))
    return shapes


def _scores(residuals: FloatArray, shapes: list[Shape], memory: float) -> FloatArray:
    """Bayesian information criterion of each shape (rows) for each copy (columns), for correlated points."""
    n = residuals.shape[-1]
    independent = max(3.0, n / memory)
    errors = (residuals**2).mean(axis=-1) + EXACT
    cost = np.array([shape.basis.shape[1] * math.log(independent) - 2.0 * math.log(shape.prior) for shape in shapes])
    scores: FloatArray = independent * np.log(errors) + cost[:, None]
    return scores


def _blocks(residual: FloatArray, memory: float, rng: np.random.Generator) -> FloatArray:
    """Copies of the residuals made of blocks long enough to keep their correlation."""
    n = int(residual.size)
    length = int(min(max(2.0, 2.0 * memory), max(2.0, n / 3.0)))
    starts = rng.integers(0, n - length + 1, size=(REPLICATES, -(-n // length)))
    index = (starts[:, :, None] + np.arange(length)).reshape(REPLICATES, -1)[:, :n]
    copies: FloatArray = (residual - residual.mean())[index]
    return copies


def _choose(copies: FloatArray, shapes: list[Shape], memory: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """One shape per copy, drawn by how well each fits it."""
    residuals = np.stack([copies - (copies @ shape.inverse.T) @ shape.basis.T for shape in shapes])
    scores = _scores(residuals, shapes, memory)
    weights = np.exp(-0.5 * np.minimum(scores - scores.min(axis=0), 1400.0))
    shares = np.cumsum(weights / weights.sum(axis=0), axis=0)
    return np.minimum((shares < rng.random(REPLICATES)).sum(axis=0), len(shapes) - 1)


def _future(coefficients: FloatArray, shape: Shape, end: float, bar: float) -> tuple[FloatArray, FloatArray]:
    level = coefficients[:, 0]
    slope = coefficients[:, 1] if shape.decay != FLAT else np.zeros_like(level)
    levels = level + slope * shape.course(end)
    times = np.where(level + slope * shape.course(1.0) >= bar, 1.0, np.inf)
    later = (times > 1.0) & (levels >= bar)
    needed = (bar - level[later]) / slope[later]
    times[later] = needed if shape.decay == STRAIGHT else -shape.decay * np.log(-needed)
    return levels, times
