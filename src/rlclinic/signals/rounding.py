"""What the rounding of the writer hides: a printed 0.000 is not zero."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._scale import ratio
from rlclinic.signals._shapes import points, resolution

HIDDEN = 3.0
"""Values below this many resolutions have lost most of their digits: the first one kept is off by a sixth or more."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """The printed resolution of a series and what lies below it."""

    n: int
    enough: bool
    """Whether there is a point, and the decimals of the writer are known."""
    resolution: float = math.nan
    """Distance between neighbouring printable values."""
    largest_hidden: float = math.nan
    """A printed zero means anything up to this magnitude."""
    printed_zeros: int = 0
    """Points printed as zero, whose true value is only known to be small."""
    coarse: int = 0
    """Points, zeros included, of fewer than three resolutions: their ratio to another value means little."""
    coarse_share: float = math.nan
    first_coarse_step: float | None = None
    range_in_resolutions: float = math.nan
    """Distance from the smallest to the largest value: with few resolutions, trend and noise are those of rounding."""


def rounding(data: Series | FloatArray, decimals: int | None = None) -> Rounding:
    """Measure what is lost at the decimals the series was printed with, or at those given."""
    steps, values = points(data)
    n = int(values.size)
    unit = resolution(data) if decimals is None else 10.0 ** -min(max(decimals, -300), 300)
    if n == 0 or unit == 0.0:
        return Rounding(n, enough=False)
    magnitude = np.abs(values)
    coarse = magnitude < (HIDDEN - 0.5) * unit
    count = int(coarse.sum())
    half_range = float(values.max()) / 2.0 - float(values.min()) / 2.0
    return Rounding(
        n=n,
        enough=True,
        resolution=unit,
        largest_hidden=unit / 2.0,
        printed_zeros=int((magnitude < unit / 2.0).sum()),
        coarse=count,
        coarse_share=count / n,
        first_coarse_step=float(steps[int(np.argmax(coarse))]) if count else None,
        range_in_resolutions=ratio(half_range, unit / 2.0) if not math.isinf(half_range) else math.inf,
    )
