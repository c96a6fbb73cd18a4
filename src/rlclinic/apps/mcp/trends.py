"""How a metric moved, in the words of gymnasium-solver's server, measured with the signals of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlclinic.apps.mcp.reply import Number, Part
from rlclinic.model.vocabulary import metric as entry_of

if TYPE_CHECKING:
    from rlclinic.model.series import FloatArray, Series

# A rank test below this says that the trend is no accident.
SURE = 0.05
# Share of the series at either end whose mean counts as first and last: single values are mostly noise.
ENDS = 0.1


class TrendWords(Part):
    """The trend of a metric."""

    n_samples: int
    first_value: Number | None
    """Mean of the first tenth."""
    last_value: Number | None
    change: Number | None
    change_pct: Number | None
    """Of the first value's size."""
    slope: Number | None
    """Per step of the run's axis (Theil-Sen)."""
    direction: str
    """rising, falling, or for metrics of which more is better improving and declining; stable; insufficient_data."""
    p_value: Number | None
    """Of a trend this strong by chance."""
    significance: str


def end_levels(values: FloatArray) -> tuple[float, float]:
    """Where values begin and end: the means of their first and last tenth. There must be one at least."""
    width = max(1, round(ENDS * values.size))
    return float(values[:width].mean()), float(values[-width:].mean())


def trend_of(series: Series) -> TrendWords:
    """The trend over the whole series."""
    from rlclinic.signals.trend import trend

    finite = np.isfinite(series.values)
    values, steps = series.values[finite], series.steps[finite]
    if values.size < 2:
        return TrendWords(
            n_samples=int(values.size),
            first_value=float(values[0]) if values.size else None,
            last_value=float(values[-1]) if values.size else None,
            change=None,
            change_pct=None,
            slope=None,
            direction="insufficient_data",
            p_value=None,
            significance="insufficient_data",
        )
    first, last = end_levels(values)
    found = trend(series)
    sure = found.enough and found.p_value < SURE
    slope = found.slope if found.enough else (last - first) / max(float(steps[-1] - steps[0]), 1.0)
    return TrendWords(
        n_samples=int(values.size),
        first_value=first,
        last_value=last,
        change=last - first,
        change_pct=100.0 * (last - first) / abs(first) if first else None,
        slope=slope,
        direction=_direction(series.name, last - first) if sure else "stable" if found.enough else "insufficient_data",
        p_value=found.p_value if found.enough else None,
        significance="significant" if sure else "not_significant" if found.enough else "insufficient_data",
    )


def _direction(name: str, change: float) -> str:
    known = entry_of(name)
    better = known.better if known else ""
    if not better:
        return "rising" if change > 0 else "falling"
    return "improving" if (change > 0) == (better == "up") else "declining"
