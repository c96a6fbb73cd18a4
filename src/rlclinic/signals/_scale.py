"""Bring a curve to a common scale, so that neither 1e300 nor 1e-300 overflows on the way."""

from __future__ import annotations

import math
import sys
from functools import lru_cache

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._shapes import Curve

LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """A curve as positions in 0..1 and values in about -2..2: value = offset + unit * y."""

    x: FloatArray
    y: FloatArray
    unit: float
    offset: float
    origin: float
    span: float
    """Steps from the first to the last point."""

    def value(self, y: float) -> float:
        """A scaled value in the unit of the series."""
        return bounded(self.offset + y * self.unit)

    def difference(self, dy: float) -> float:
        """A scaled difference in the unit of the series."""
        return bounded(dy * self.unit)

    def step(self, x: float) -> float:
        """A position as a step."""
        return bounded(self.origin + x * self.span)


@lru_cache(maxsize=128)
def scaled(curve: Curve) -> Scaled:
    """The curve around its middle value, in a unit that is a power of two."""
    if len(curve) == 0:
        return Scaled(curve.steps, curve.values, 1.0, 0.0, 0.0, 0.0)
    first = power_of_two(curve.values)
    y = curve.values / first
    ordered = np.sort(y)
    middle = float(ordered[(y.size - 1) // 2] + ordered[y.size // 2]) / 2.0
    y = y - middle
    second = power_of_two(y)
    half = curve.steps / 2.0 - curve.steps[0] / 2.0
    x = half / half[-1] if half[-1] > 0 else np.zeros_like(half)
    return Scaled(
        x=x,
        y=y / second,
        unit=max(second * first, 5e-324),
        offset=middle * first,
        origin=float(curve.steps[0]),
        span=bounded(2.0 * float(half[-1])),
    )


def power_of_two(values: FloatArray) -> float:
    """The largest power of two not above the largest magnitude; 1 for zeros."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    return math.ldexp(1.0, max(math.frexp(largest)[1] - 1, -1022))


def restored(scaled_values: FloatArray, unit: float) -> FloatArray:
    """Scaled values in their own unit, held inside the range of a float."""
    with np.errstate(over="ignore"):
        return np.clip(scaled_values * unit, -LARGEST, LARGEST)


def bounded(value: float) -> float:
    """A number held inside the range of a float."""
    return min(max(value, -LARGEST), LARGEST) if value == value else value


def ratio(part: float, whole: float) -> float:
    """A share that is NaN, not an error, where the whole is zero."""
    return bounded(part / whole) if whole else math.nan


def in_units(difference: float, unit: float) -> float:
    """A difference counted in a unit: without noise any difference is infinitely many."""
    if difference == 0.0 or unit != unit or difference != difference:
        return 0.0 if difference == 0.0 and unit == unit else math.nan
    return bounded(difference / unit) if unit > 0.0 else math.copysign(math.inf, difference)
