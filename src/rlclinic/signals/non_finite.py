"""Since when a series holds NaN or infinite values, and whether it ever recovered."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlclinic.model.series import FloatArray, Series


@dataclass(frozen=True, slots=True)
class NonFinite:
    """Logged values that are no numbers. A point that was not logged is not one of them."""

    n: int
    """Logged points, finite or not."""
    enough: bool
    """Whether anything was logged."""
    count: int = 0
    nan: int = 0
    positive_infinity: int = 0
    negative_infinity: int = 0
    first_step: float | None = None
    """Step of the first such value."""
    last_finite_step: float | None = None
    """Step of the last finite value."""
    share_after: float = math.nan
    """Share of the points from the first such value on that are like it: 1 never recovered."""

    @property
    def persists(self) -> bool:
        """Whether no finite value followed the first one that is not."""
        return self.share_after == 1.0


def non_finite(data: Series | FloatArray) -> NonFinite:
    """Find the first value that is no number."""
    values = data.values if isinstance(data, Series) else np.asarray(data, dtype=np.float64).ravel()
    steps = data.steps if isinstance(data, Series) else np.arange(values.size, dtype=np.float64)
    if values.size == 0:
        return NonFinite(0, enough=False)
    finite = np.isfinite(values)
    good = np.flatnonzero(finite)
    last_finite = float(steps[good[-1]]) if good.size else None
    if good.size == values.size:
        return NonFinite(int(values.size), enough=True, last_finite_step=last_finite)
    onset = int(np.argmin(finite))
    bad = values[~finite]
    return NonFinite(
        n=int(values.size),
        enough=True,
        count=int(bad.size),
        nan=int(np.isnan(bad).sum()),
        positive_infinity=int((bad == np.inf).sum()),
        negative_infinity=int((bad == -np.inf).sum()),
        first_step=float(steps[onset]),
        last_finite_step=last_finite,
        share_after=float(bad.size / (values.size - onset)),
    )
