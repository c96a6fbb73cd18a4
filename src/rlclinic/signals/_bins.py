"""Stretches of as equal a number of neighbouring points as can be, the longer ones first."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.series import FloatArray


def bin_means(values: FloatArray, bins: int) -> FloatArray:
    """The mean of each stretch; `bins` is at most the number of values."""
    starts, counts = _bins(int(values.size), bins)
    means: FloatArray = np.add.reduceat(values, starts) / counts
    return means


def bin_ends(values: FloatArray, bins: int) -> FloatArray:
    """The last value of each stretch."""
    starts, counts = _bins(int(values.size), bins)
    ends: FloatArray = values[starts + counts - 1]
    return ends


@lru_cache(maxsize=256)
def _bins(size: int, bins: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First point and length of each stretch."""
    shortest, longer = divmod(size, bins)
    counts = np.full(bins, shortest, dtype=np.intp)
    counts[:longer] += 1
    return np.cumsum(counts) - counts, counts
