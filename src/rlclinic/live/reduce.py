"""A metric of any length in bounded memory: about 2,000 of its points, spread over the whole run.

Averages would hide noise and spikes, on which rules judge. So of every few points one is kept as it was logged: the
last, unless an earlier one is not finite or lies far outside of what the metric was so far.
"""

from __future__ import annotations

import math
from array import array

import numpy as np

from rlclinic.model.numbers import TO_SIGMA
from rlclinic.model.series import FloatArray

# Points that are kept: as many as rules make use of, at 48 kB a metric.
MOST_POINTS = 2_000
# Spreads from the median beyond which a point is kept for what it is.
FAR = 8.0


class BoundedSeries:
    """One metric as it is logged."""

    __slots__ = ("_best", "_bounds", "_steps", "_stride", "_times", "_values", "_waiting", "most")

    def __init__(self, most: int = MOST_POINTS) -> None:
        self.most = most
        self._steps, self._values, self._times = array("d"), array("d"), array("d")
        self._stride = 1
        self._waiting = 0
        self._best: tuple[float, float, float, bool] | None = None
        self._bounds = (-math.inf, math.inf)

    def __len__(self) -> int:
        return len(self._values) + (self._best is not None)

    def add(self, step: float, value: float, moment: float) -> None:
        """One logged point."""
        notable = not self._bounds[0] <= value <= self._bounds[1] or value - value != 0.0
        if self._best is None or notable or not self._best[3]:
            self._best = step, value, moment, notable
        self._waiting += 1
        if self._waiting < self._stride:
            return
        self._keep(self._best)
        self._best, self._waiting = None, 0
        if len(self._values) >= self.most:
            self._halve()

    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Steps, values and Unix times, the newest point included."""
        parts = [np.array(part, dtype=np.float64) for part in (self._steps, self._values, self._times)]
        if self._best is not None:
            parts = [np.append(part, new) for part, new in zip(parts, self._best[:3], strict=True)]
        return parts[0], parts[1], parts[2]

    def _keep(self, point: tuple[float, float, float, bool]) -> None:
        self._steps.append(point[0])
        self._values.append(point[1])
        self._times.append(point[2])

    def _halve(self) -> None:
        """Of every two points one; what is usual for this metric is measured anew."""
        values = np.array(self._values, dtype=np.float64)
        finite = values[np.isfinite(values)]
        if finite.size:
            middle = float(np.median(finite))
            spread = FAR * TO_SIGMA * float(np.median(np.abs(finite - middle)))
            # A metric that hardly ever moves has no spread; every move of it would be far.
            self._bounds = (middle - spread, middle + spread) if spread else (-math.inf, math.inf)
        notable = ~((values >= self._bounds[0]) & (values <= self._bounds[1])) | ~np.isfinite(values)
        second = np.arange(1, values.size, 2)
        kept = np.where(notable[second - 1] & ~notable[second], second - 1, second)
        for name in ("_steps", "_values", "_times"):
            setattr(self, name, array("d", np.array(getattr(self, name))[kept].tobytes()))
        self._stride *= 2
