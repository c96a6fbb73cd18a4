"""How far a stretch of levels rises along its straight line, with an interval from a block bootstrap, and how often
chance alone makes a curve of them.

Neighbouring levels resemble each other, so whole blocks of residuals are drawn (Künsch 1989). Where levels are few, the
interval widens as Student's distribution does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.return_curve import Rise
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import mean, quantile_of_sorted, t_quantile

DRAWS = 400
LEAST = 5
"""Levels below which a line and its noise cannot be told apart."""
LONGEST = 4
"""A block is at most one in this many of the levels."""
CONFIDENCE = 0.95
SEED = 20_260_101


def bootstrap_rise(levels: FloatArray, least: float = 0.0) -> Rise:
    """The rise of the least-squares line from the first to the last level.

    `least` is half the interval that it has at the least, where noise is known to be slower than the levels show.
    """
    n = int(levels.size)
    if n < LEAST:
        return Rise(float(levels[-1] - levels[0]) if n > 1 else 0.0)
    unit = float(np.abs(levels).max()) or 1.0
    y = levels / unit
    time, contrast = _line(n)
    rise = float(contrast @ y)
    residual = y - mean(y) - rise * time
    draws = _contrasts(n, _block(residual)) @ residual
    draws.sort()
    low, high = (_wider(n) * quantile_of_sorted(draws, (1.0 + side * CONFIDENCE) / 2.0) for side in (-1, 1))
    down, up = max(high * unit, least), max(-low * unit, least)
    return Rise(rise * unit, rise * unit - down, rise * unit + up)


def by_chance(levels: FloatArray, *statistics: Callable[[FloatArray], FloatArray]) -> tuple[float, ...]:
    """How often levels in any other order give as large a statistic: the largest of them is so by its place alone.

    It asks nothing of their distribution, so that one outlier, which is as far out wherever it stands, is no climb.
    """
    shuffled = levels[_orders(int(levels.size))]
    return tuple(
        float((1 + np.count_nonzero(statistic(shuffled) >= statistic(levels[None, :])[0])) / (1 + DRAWS))
        for statistic in statistics
    )


@lru_cache(maxsize=128)
def _orders(n: int) -> NDArray[np.intp]:
    orders: NDArray[np.intp] = np.random.default_rng(SEED).random((DRAWS, n)).argsort(axis=1)
    return orders


def _block(residual: FloatArray) -> int:
    """Length of a block: as long as neighbours resemble each other."""
    n, power = int(residual.size), float(residual @ residual)
    phi = float(residual[1:] @ residual[:-1]) / power if power > 0.0 else 0.0
    memory = (1.0 + phi) / (1.0 - phi) if 0.0 < phi < 1.0 else 1.0
    return max(1, min(math.ceil(memory), n // LONGEST))


@lru_cache(maxsize=128)
def _wider(n: int) -> float:
    """Residuals of a line are smaller than the noise they stand for, and few of them know it badly."""
    return math.sqrt(n / (n - 2.0)) * t_quantile(CONFIDENCE, n - 2.0) / NormalDist().inv_cdf((1.0 + CONFIDENCE) / 2.0)


@lru_cache(maxsize=128)
def _line(n: int) -> tuple[FloatArray, FloatArray]:
    """The time of each level, and what each adds to the rise of the line through all."""
    time = np.linspace(-0.5, 0.5, n)
    return time, time / float(time @ time)


@lru_cache(maxsize=128)
def _contrasts(n: int, length: int) -> FloatArray:
    """What each residual adds to the rise of each draw, which puts blocks of neighbours together, the ends joined."""
    count = -(-n // length)
    starts = np.random.default_rng(SEED).integers(0, n, (DRAWS, count))
    places = (starts[:, :, None] + np.arange(length)).reshape(DRAWS, -1)[:, :n] % n
    cells = (places + n * np.arange(DRAWS)[:, None]).ravel()
    added = np.bincount(cells, np.tile(_line(n)[1], DRAWS), DRAWS * n)
    return np.asarray(added, dtype=np.float64).reshape(DRAWS, n)
