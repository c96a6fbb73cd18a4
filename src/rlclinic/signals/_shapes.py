"""What every signal accepts, and the clean points in it."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series

Centre: TypeAlias = Literal["robust", "mean"]
"""`robust` resists outliers; `mean` is right for returns of rare successes, whose middle value is zero."""

Window: TypeAlias = tuple[float, float]
"""Start and end as shares of the steps a series spans: (0.9, 1.0) is the last tenth."""

QUARTILES = 8
"""Points a bin needs before its quartiles say more about its spread than its standard deviation."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A series resampled onto at most a few hundred points."""

    steps: FloatArray
    """Mean step of the points in each bin; a bin without points is not there."""
    values: FloatArray
    low: FloatArray
    """Smallest value of each bin, so that a spike survives the resampling."""
    high: FloatArray
    spread: FloatArray
    """Standard deviation of the points within each bin; 0 for a bin of one point."""
    counts: NDArray[np.intp]
    n: int
    """Finite logged points behind the curve."""
    resolution: float = 0.0
    """Distance between neighbouring printable values, where the writer rounded."""

    def __len__(self) -> int:
        return int(self.values.size)

    def part(self, kept: slice) -> Curve:
        """A stretch of the curve."""
        if kept.start == 0 and kept.stop == len(self):
            return self
        counts = self.counts[kept]
        return Curve(
            steps=self.steps[kept],
            values=self.values[kept],
            low=self.low[kept],
            high=self.high[kept],
            spread=self.spread[kept],
            counts=counts,
            n=int(counts.sum()),
            resolution=self.resolution,
        )


Data: TypeAlias = Series | Curve | FloatArray


def points(data: Data) -> tuple[FloatArray, FloatArray]:
    """The finite points in the order of their steps; an array has the steps 0, 1, 2, ..."""
    if isinstance(data, Series | Curve):
        steps, values = data.steps, data.values
    else:
        values = np.asarray(data, dtype=np.float64).ravel()
        steps = np.arange(values.size, dtype=np.float64)
    kept = np.isfinite(values) & np.isfinite(steps)
    if not kept.all():
        steps, values = steps[kept], values[kept]
    if steps.size > 1 and bool((steps[1:] < steps[:-1]).any()):
        order = np.argsort(steps, kind="stable")
        steps, values = steps[order], values[order]
    return steps, values


def resolution(data: Data) -> float:
    """Distance between neighbouring printable values; 0 where the writer did not round."""
    if isinstance(data, Curve):
        return data.resolution
    if isinstance(data, Series) and data.decimals is not None:
        return float(10.0 ** -min(max(data.decimals, -300), 300))
    return 0.0


@lru_cache(maxsize=128)
def between(curve: Curve, first: float, last: float) -> Curve:
    """The points of a curve from one step to another, both included."""
    start = int(np.searchsorted(curve.steps, first, side="left"))
    stop = int(np.searchsorted(curve.steps, last, side="right"))
    return curve.part(slice(start, max(start, stop)))


def within(curve: Curve, window: Window, at_least: int = 1) -> slice:
    """The points of a curve inside a window.

    A window that touches an end of the curve grows inwards until it holds `at_least` points.
    """
    n = len(curve)
    if n == 0:
        return slice(0, 0)
    first, last = float(curve.steps[0]) / 2.0, float(curve.steps[-1]) / 2.0
    start = int(np.searchsorted(curve.steps / 2.0, _between(first, last, window[0]), side="left"))
    stop = int(np.searchsorted(curve.steps / 2.0, _between(first, last, window[1]), side="right"))
    if window[0] <= 0.0:
        start, stop = 0, max(stop, min(at_least, n))
    if window[1] >= 1.0:
        stop = n
        start = min(start, max(0, n - at_least)) if window[0] > 0.0 else 0
    return slice(start, max(start, stop))


def _between(first: float, last: float, share: float) -> float:
    return first + (last - first) * share
