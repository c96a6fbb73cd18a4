"""Single values far off the course of a series: many noise units away, and large against its range."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import robust_scale, running_median
from rlclinic.signals._scale import LARGEST, Scaled, in_units, scaled
from rlclinic.signals._shapes import Curve, Data, points
from rlclinic.signals._wander import point_noise, rounding_noise
from rlclinic.signals.resample import resample

LEAST = 8
"""Points below which a spike cannot be told from the course."""
NEIGHBOURS = 11
"""Points of the curve whose middle is the course: a spike of up to five points does not move it."""
Z = 6.0
"""Noise units from the course: about one in 10^9 points of normal noise."""
MATERIAL = 0.5
"""Distance from the course as a share of the range of the course and its noise."""
NOISE_RANGE = 4.0
"""Noise units that the noise adds to the range."""
KEPT = 20
"""Spikes described one by one."""


@dataclass(frozen=True, slots=True)
class Spike:
    """One value far off the course; of neighbouring ones the farthest."""

    step: float
    value: float
    z: float
    """Noise units from the course, with its sign; infinite where there is no noise."""
    relative: float
    """Distance from the course over the range of the series without spikes."""


@dataclass(frozen=True, slots=True)
class Spikes:
    """The spikes of a series."""

    n: int
    enough: bool
    share: float = math.nan
    """Share of the points that belong to a spike."""
    largest: tuple[Spike, ...] = ()
    """The largest spikes, in the order of their steps."""


def spikes(data: Data, z: float = Z, material: float = MATERIAL) -> Spikes:
    """Find values that are at least `z` noise units and a share `material` of the range off the course."""
    curve = resample(data)
    if len(curve) < LEAST:
        return Spikes(curve.n, enough=False)
    frame = scaled(curve)
    course = running_median(frame.y, NEIGHBOURS)
    scale = max(point_noise(curve, robust_scale(frame.y - course)), rounding_noise(curve))
    body = float(np.ptp(course)) + NOISE_RANGE * scale
    limit = max(z * scale, material * body, np.finfo(float).tiny)
    steps, values, distances, order = _beyond(data, curve, frame, course, limit)
    peaks = _peaks(distances, order)
    largest = sorted(peaks, key=lambda index: -abs(float(distances[index])))[:KEPT]
    return Spikes(
        n=curve.n,
        enough=True,
        share=float(distances.size) / curve.n,
        largest=tuple(
            Spike(
                step=float(steps[index]),
                value=float(values[index]),
                z=in_units(float(distances[index]), scale),
                relative=in_units(abs(float(distances[index])), body),
            )
            for index in sorted(largest)
        ),
    )


def _beyond(
    data: Data, curve: Curve, frame: Scaled, course: FloatArray, limit: float
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.intp]]:
    """Points farther from the course than the limit: steps, values, scaled distances and positions in the series."""
    low, high = (_distance(values, frame, course) for values in (curve.low, curve.high))
    bins = np.maximum(high, -low) >= limit
    if isinstance(data, Curve) or not bins.any():
        upper = high >= -low
        values, distances = np.where(upper, curve.high, curve.low), np.where(upper, high, low)
        order = np.flatnonzero(bins)
        return curve.steps[order], values[order], distances[order], order
    steps, values = points(data)
    order = np.flatnonzero(np.repeat(bins, curve.counts))
    distances = _distance(values[order], frame, np.repeat(course[bins], curve.counts[bins]))
    far = np.abs(distances) >= limit
    order = order[far]
    return steps[order], values[order], distances[far], order


def _distance(values: FloatArray, frame: Scaled, course: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        y = values / frame.unit - frame.offset / frame.unit
        return np.clip(y - course, -LARGEST, LARGEST)


def _peaks(distances: FloatArray, order: NDArray[np.intp]) -> list[int]:
    """The farthest point of each unbroken run of points on one side of the course."""
    if distances.size == 0:
        return []
    broken = (np.diff(order) > 1) | (np.diff(np.sign(distances)) != 0)
    edges = [0, *(np.flatnonzero(broken) + 1).tolist(), int(distances.size)]
    sizes = np.abs(distances)
    return [a + int(np.argmax(sizes[a:b])) for a, b in pairwise(edges)]
