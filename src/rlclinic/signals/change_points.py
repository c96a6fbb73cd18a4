"""Where a series jumps from one level to another."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._course import plain_course
from rlclinic.signals._robust import location
from rlclinic.signals._scale import in_units, scaled
from rlclinic.signals._shapes import Centre, Curve, Data
from rlclinic.signals._wander import Wander, point_noise, rounding_noise, wander, wander_of
from rlclinic.signals.resample import resample

LEAST = 8
"""Points below which two levels cannot be told apart."""
PENALTY = 3.0
"""Price of a change in long-run variances times log n; 2 is that of the Bayesian information criterion."""
SHORTEST = 50
"""A level lasts at least one in this many of the points, and two points."""
MOST = 10
"""Changes kept: a ramp is a staircase of many."""
SMALLEST_NOISE = 1e-4
"""Noise assumed at least, as a share of the range, so that a schedule without noise has a price for changes."""
BAI = 11.0
"""Half width of the 95% interval of a change, in (long-run noise / jump)^2 points (Bai 1997)."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """One jump between two levels."""

    step: float
    """First step of the new level."""
    low_step: float
    """Lower end of the 95% interval of the step."""
    high_step: float
    effect: float
    """The difference in standard deviations of a logged point; infinite where there is no noise."""
    difference: float
    """From the level before to the one after."""


@dataclass(frozen=True, slots=True)
class ChangePoints:
    """The jumps of a series in the order of their steps."""

    n: int
    enough: bool
    points: tuple[ChangePoint, ...] = ()


def change_points(data: Data, centre: Centre = "robust", most: int = MOST) -> ChangePoints:
    """Split a series into levels; noise that wanders slowly raises the price of a split."""
    return _of_curve(resample(data, centre=centre), centre, most)


@lru_cache(maxsize=128)
def _of_curve(curve: Curve, centre: Centre, most: int) -> ChangePoints:
    if len(curve) < LEAST:
        return ChangePoints(curve.n, enough=False)
    frame = scaled(curve)
    model = wander(curve)
    price = _long_run(model)
    edges = _split(frame.y, price, most)
    if len(edges) > 2:
        levels = _levels(frame.y, edges, centre)
        model = wander_of(frame.y - np.repeat(levels, np.diff(edges)), rounding_noise(curve), fitted=plain_course)
        edges = _split(frame.y, min(price, _long_run(model)), most)
    levels = _levels(frame.y, edges, centre)
    unit, long_run = frame.difference(point_noise(curve, model.deviation)), _long_run(model)
    points = []
    for stretch, (before, after) in zip(zip(edges, edges[1:], edges[2:], strict=False), pairwise(levels), strict=True):
        (start, at, stop), jump = stretch, float(after - before)
        reach = math.ceil(min(BAI * long_run / (jump * jump), float(model.n))) if jump else model.n
        points.append(
            ChangePoint(
                step=float(curve.steps[at]),
                low_step=float(curve.steps[max(start, at - 1 - reach)]),
                high_step=float(curve.steps[min(stop - 1, at + reach)]),
                effect=in_units(frame.difference(jump), unit),
                difference=frame.difference(jump),
            )
        )
    return ChangePoints(curve.n, enough=True, points=tuple(points))


def _split(y: FloatArray, variance: float, most: int) -> list[int]:
    """Edges of the levels, the ends of the series included."""
    size = int(y.size)
    shortest = max(2, size // SHORTEST)
    if float(np.ptp(y)) == 0.0:
        return [0, size]
    edges = _best_edges(y, shortest, PENALTY * variance * math.log(size))
    while len(edges) - 2 > most:
        del edges[_cheapest(y, edges)]
    return edges


def _best_edges(y: FloatArray, shortest: int, price: float) -> list[int]:
    """The levels of least squared error plus price per level (optimal partitioning, Jackson et al. 2005).

    The curve has a few hundred points: comparing all edges takes less than importing a library that compares fewer.
    """
    size = int(y.size)
    sums, squares = np.concatenate(([0.0], y)).cumsum(), np.concatenate(([0.0], y * y)).cumsum()
    best, came_from = np.full(size + 1, math.inf), [0] * (size + 1)
    best[0] = 0.0
    # The squared error of a level from each start to each end, all at once.
    counts = np.maximum(np.subtract.outer(np.arange(size + 1.0), np.arange(size + 1.0)), 1.0)
    errors = np.subtract.outer(squares, squares) - np.subtract.outer(sums, sums) ** 2 / counts
    for end in range(shortest, size + 1):
        total = best[: end - shortest + 1] + errors[end, : end - shortest + 1] + price
        came_from[end] = int(total.argmin())
        best[end] = total[came_from[end]]
    edges = [size]
    while edges[-1] > 0:
        edges.append(came_from[edges[-1]])
    return edges[::-1]


def _cheapest(y: FloatArray, edges: list[int]) -> int:
    """The change whose removal costs the least."""
    at = np.array(edges)
    counts = np.diff(at)
    means = np.add.reduceat(y, at[:-1]) / counts
    costs = np.diff(means) ** 2 * counts[1:] * counts[:-1] / (counts[1:] + counts[:-1])
    return 1 + int(np.argmin(costs))


def _long_run(model: Wander) -> float:
    """Variance that independent points would need to have a mean as uncertain as this series."""
    error = model.error(np.full(model.n, 1.0 / model.n)).deviation
    return max(float(error * error * model.n), SMALLEST_NOISE**2)


def _levels(y: FloatArray, edges: list[int], centre: Centre) -> FloatArray:
    return np.array([location(y[a:b], centre) for a, b in pairwise(edges)])
