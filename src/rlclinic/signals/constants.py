"""Stretches over which a series does not change at all, and silence before the end of the run.

An update that never ran, a schedule that ended and a metric that is no longer logged all look like this.
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._scale import bounded, ratio
from rlclinic.signals._shapes import points


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring points of exactly the same value."""

    points: int
    value: float
    start_step: float
    end_step: float


@dataclass(frozen=True, slots=True)
class Constants:
    """Exact equality only: with rounded values, ask `rounding` what equality means."""

    n: int
    enough: bool
    """Whether there are two points to compare."""
    constant: bool = False
    """Whether all finite values are the same."""
    first: Stretch | None = None
    """Stretch at the beginning."""
    last: Stretch | None = None
    """Stretch at the end."""
    longest: Stretch | None = None
    zeros: int = 0
    """Points that are exactly zero."""
    repeats: float = math.nan
    """Share of the points that equal the point before."""
    silent_share: float = math.nan
    """Share of the run between the last point and its end; NaN where that end is not known."""


def constants(data: Series | FloatArray, run_end: float | None = None) -> Constants:
    """Find exact repetition, and the silence between the last point and step `run_end`."""
    steps, values = points(data)
    n = int(values.size)
    if n == 0:
        return Constants(0, enough=False)
    starts = np.concatenate(([0], np.flatnonzero(values[1:] != values[:-1]) + 1))
    lengths = np.diff(starts, append=n)
    stretches = [
        Stretch(
            int(lengths[i]), float(values[starts[i]]), float(steps[starts[i]]), float(steps[starts[i] + lengths[i] - 1])
        )
        for i in (0, -1, int(np.argmax(lengths)))
    ]
    silence = max(0.0, bounded(run_end - float(steps[-1]))) if run_end is not None else math.nan
    return Constants(
        n=n,
        enough=n >= 2,
        constant=starts.size == 1,
        first=stretches[0],
        last=stretches[1],
        longest=stretches[2],
        zeros=int(n - np.count_nonzero(values)),
        repeats=ratio(float(n - starts.size), float(n - 1)),
        silent_share=_silent_share(silence, steps, run_end),
    )


def _silent_share(silence: float, steps: FloatArray, run_end: float | None) -> float:
    if run_end is None:
        return math.nan
    start = min(0.0, float(steps[0]))
    return ratio(silence, max(run_end, float(steps[-1])) - start)
