"""From values to places in a picture, and the round numbers beside its axes."""

from __future__ import annotations

import math

from rlclinic.model.lazy_dataclass import dataclass

# Suffixes of large round numbers.
SUFFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Scale:
    """Values between low and high, drawn between start and end."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value."""
        if self.log:
            share = _share(math.log10(value), math.log10(self.low), math.log10(self.high))
        else:
            share = _share(value, self.low, self.high)
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int) -> list[float]:
        """About so many round values within the range."""
        return _decades(self.low, self.high, count) if self.log else _round_values(self.low, self.high, count)


def linear(low: float, high: float, start: float, end: float) -> Scale:
    """An even scale; a constant is drawn in its middle."""
    if low == high:
        margin = abs(low) * 0.5 or 1.0
        low, high = low - margin, high + margin
    return Scale(low, high, start, end)


def widened(scale: Scale, count: int) -> Scale:
    """The same scale out to the next round values, so that both ends have a label."""
    step = _round_step(scale.low, scale.high, count)
    if step is None or scale.log:
        return scale
    low, high = math.floor(scale.low / step + 1e-9) * step, math.ceil(scale.high / step - 1e-9) * step
    return Scale(low, high, scale.start, scale.end) if math.isfinite(low) and math.isfinite(high) else scale


def logarithmic(low: float, high: float, start: float, end: float) -> Scale:
    """A scale of orders of magnitude, for values above zero."""
    if low == high:
        return linear(low, high, start, end)
    return Scale(low, high, start, end, log=True)


def tick_text(value: float) -> str:
    """A short number for an axis."""
    size = abs(value)
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if size >= 1e12 or 0 < size < 1e-3:
        return f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    for unit, suffix in SUFFIXES:
        if size >= unit:
            return f"{value / unit:.4g}{suffix}"
    return f"{value:.4g}"


def _share(value: float, low: float, high: float) -> float:
    # Halved, so that the distance of two huge values stays finite.
    span = high / 2 - low / 2
    return (value / 2 - low / 2) / span if span > 0 else 0.5


def _round_values(low: float, high: float, count: int) -> list[float]:
    step = _round_step(low, high, count)
    if step is None:
        return [low, high]
    first = math.ceil(low / step - 1e-9)
    values = [index * step for index in range(first, first + 2 * count + 2)]
    # A multiple such as 3 * 0.1 carries rounding noise that a label would show.
    return [float(f"{value:.10g}") for value in values if low - 1e-9 * step <= value <= high + 1e-9 * step]


def _round_step(low: float, high: float, count: int) -> float | None:
    """1, 2 or 5 times a power of ten; None where the range is too small or too large for one."""
    rough = (high / count) - (low / count)
    if not math.isfinite(rough) or rough <= 0:
        return None
    unit = 10.0 ** math.floor(math.log10(rough))
    # Below this the numbers themselves are too coarse to tell ticks apart.
    if unit <= 1e-12 * max(abs(low), abs(high)) or not math.isfinite(10 * unit):
        return None
    return next(size * unit for size in (1.0, 2.0, 5.0, 10.0) if size * unit >= rough * 0.999)


def _decades(low: float, high: float, count: int) -> list[float]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    if last < first:
        return [low, high]
    every = max(1, math.ceil((last - first + 1) / count))
    return [10.0**power for power in range(first, last + 1, every)]
