"""Falls of a curve that follow a climb: what was won and lost again."""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.model.series import FloatArray


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall of the return after a climb."""

    high: float
    low: float
    from_step: float
    to_step: float
    recovered: float
    """Highest level after it, minus its lowest."""

    @property
    def depth(self) -> float:
        return self.high - self.low


def falls_of(curve: FloatArray, steps: FloatArray, least: float) -> tuple[Fall, ...]:
    """Falls of at least `least` that follow a rise of at least `least`."""
    found: list[Fall] = []
    low = high = 0
    rising = False
    for index in range(1, curve.size):
        value = curve[index]
        if rising:
            high = index if value > curve[high] else high
            if curve[high] - value >= least:
                found.append(_fall(curve, steps, high, least))
                rising, low = False, index
        else:
            low = index if value < curve[low] else low
            if value - curve[low] >= least:
                rising, high = True, index
    return tuple(found)


def _fall(curve: FloatArray, steps: FloatArray, high: int, least: float) -> Fall:
    """Follow a fall to its lowest point before the return rises by `least` again."""
    low = high
    for index in range(high, curve.size):
        low = index if curve[index] < curve[low] else low
        if curve[index] - curve[low] >= least:
            break
    top = float(curve[low:].max())
    return Fall(float(curve[high]), float(curve[low]), float(steps[high]), float(steps[low]), top - float(curve[low]))
