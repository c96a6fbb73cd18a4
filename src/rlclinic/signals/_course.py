"""The smooth course of a curve: lines of few pieces with few jumps, no more of either than the data ask for.

Slow noise and a smooth course look alike. Each candidate is judged by how well it predicts the next point
given the last residual, so that noise with a memory is not mistaken for structure, nor structure for noise.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import mean, robust_scale

PIECES = (1, 2, 4, 8, 16)
"""Numbers of pieces that are tried."""
POINTS_PER_PIECE = 6
PLAIN = 4
"""Pieces of the plain course."""
POINTS_PER_PLAIN_PIECE = 12
JUMPS = 3
"""Most jumps."""
JUMP_PRICE = 3.0
"""Price of a jump in the same unit: its place is chosen from all points."""
SHORTEST = 3
"""Points on each side of a jump, at least."""
POINTS_PER_COLUMN = 4
"""Averages that are needed for each column of a course."""
PIECE_PRICE = 1.5
"""Price of a piece against that of the Bayesian information criterion, which fits noise with a memory too closely."""
CLIP = 3.5
"""Residuals count at most this many scales: one spike is not structure."""
SMALLEST = 1e-24
"""Mean squared residual below which a fit is exact, for values of order one."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """The chosen course of a curve."""

    basis: FloatArray
    """Orthonormal columns that span it."""
    residual: FloatArray
    plain: bool = False
    """Whether its number of pieces follows from the number of points alone."""


def plain_course(y: FloatArray) -> Course:
    """A course of as many pieces as a slow start, a climb and a plateau need; swings and jumps are noise to it."""
    n = int(y.size)
    basis = line(n, max(1, min(PLAIN, n // POINTS_PER_PLAIN_PIECE)))
    return Course(basis, y - basis @ (basis.T @ y), plain=True)


def course(y: FloatArray) -> Course:
    """Choose the course of equally spaced values of order one."""
    n = int(y.size)
    smooth = [_with(y, line(n, pieces)) for pieces in PIECES if pieces == 1 or n >= pieces * POINTS_PER_PIECE]
    scores = [_score(candidate) for candidate in smooth]
    best = min(range(len(smooth)), key=scores.__getitem__)
    chosen, score = smooth[best], scores[best]
    for start in {0, best}:
        candidate = smooth[start]
        # Of two jumps there and back the first alone may explain nothing, so the search does not stop at it.
        for jumps in range(1, JUMPS + 1):
            at = _jump(candidate.residual)
            if at is None:
                break
            candidate = _with(y, _added(candidate.basis, at))
            value = _score(candidate) + jumps * (JUMP_PRICE - PIECE_PRICE) * math.log(n)
            if value < score:
                chosen, score = candidate, value
    return chosen


def coarser(fine: Course, y: FloatArray, edges: NDArray[np.intp]) -> Course | None:
    """The course of averages of neighbouring values; None where it would swallow the slow noise."""
    counts = np.diff(edges, append=y.size)
    means = np.add.reduceat(y, edges) / counts
    if fine.plain:
        return plain_course(means)
    if edges.size < POINTS_PER_COLUMN * fine.basis.shape[1]:
        return None
    basis = np.linalg.qr(np.add.reduceat(fine.basis, edges, axis=0) / counts[:, None])[0]
    return _with(means, basis)


@lru_cache(maxsize=512)
def line(n: int, pieces: int) -> FloatArray:
    """Orthonormal columns that span the connected lines of a number of pieces."""
    x = np.linspace(0.0, 1.0, n)
    knots = np.linspace(0.0, 1.0, pieces + 1)[1:-1]
    columns = [np.ones(n), x, *(np.maximum(0.0, x - knot) for knot in knots)]
    return np.linalg.qr(np.column_stack(columns))[0]


def _with(y: FloatArray, basis: FloatArray) -> Course:
    return Course(basis, y - basis @ (basis.T @ y))


def _score(candidate: Course) -> float:
    """Bayesian information criterion of the prediction of each point from the one before."""
    n, columns = (int(size) for size in candidate.basis.shape)
    bound = CLIP * robust_scale(candidate.residual)
    residual = np.minimum(np.maximum(candidate.residual, -bound), bound)
    power = float(residual @ residual)
    phi = float(residual[1:] @ residual[:-1]) / power if power > 0.0 else 0.0
    error = mean((residual[1:] - phi * residual[:-1]) ** 2)
    return n * math.log(error + SMALLEST) + PIECE_PRICE * columns * math.log(n)


def _jump(residual: FloatArray) -> int | None:
    """The place where the mean of the points after differs most from the mean of those before."""
    n = int(residual.size)
    sums = np.concatenate(([0.0], np.cumsum(residual)))
    best, where = 0.0, None
    for reach in sorted({max(SHORTEST, n // 12), max(SHORTEST, n // 40)}):
        at = np.arange(reach, n - reach + 1)
        if at.size == 0:
            continue
        differences = np.abs(sums[at + reach] - 2.0 * sums[at] + sums[at - reach]) / math.sqrt(reach)
        peak = int(np.argmax(differences))
        if differences[peak] > best:
            best, where = float(differences[peak]), int(at[peak])
    return where


def _added(basis: FloatArray, at: int) -> FloatArray:
    """The basis with a jump before a point."""
    step = np.zeros(basis.shape[0])
    step[at:] = 1.0
    step -= basis @ (basis.T @ step)
    size = math.sqrt(float(step @ step))
    return np.column_stack((basis, step / size)) if size > 1e-9 else basis
