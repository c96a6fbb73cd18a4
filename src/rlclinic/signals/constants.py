"""Whether a series never changes: an update that never ran and a return that nothing moves look like this."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._shapes import points


@dataclass(frozen=True, slots=True)
class Constants:
    """Exact equality only: a printed 0.000 may be anything below 0.0005."""

    n: int
    enough: bool
    """Whether there are two points to compare."""
    constant: bool = False
    """Whether all finite values are the same."""
    value: float = math.nan
    """The first of them."""
    zeros: int = 0
    """Points that are exactly zero."""


def constants(data: Series | FloatArray) -> Constants:
    """Find exact repetition."""
    _, values = points(data)
    n = int(values.size)
    if n == 0:
        return Constants(0, enough=False)
    first = float(values[0])
    return Constants(n, n >= 2, bool((values == first).all()), first, int(n - np.count_nonzero(values)))
