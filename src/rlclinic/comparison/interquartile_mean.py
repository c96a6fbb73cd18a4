"""The mean of the middle half: what a few seeds come to when one of them is far off."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rlclinic.model.series import FloatArray


def interquartile_mean(values: Sequence[float]) -> float:
    """The mean of the middle half, with the ends of the half weighted (Agarwal et al. 2021, arXiv:2108.13264)."""
    if not values:
        return math.nan
    return float(np.sort(np.asarray(values, dtype=float)) @ middle_half(len(values)))


def middle_half(size: int) -> FloatArray:
    """The weight of each order statistic: its share of the middle half."""
    edges = np.clip(np.arange(size + 1) / size, 0.25, 0.75)
    weights: FloatArray = np.diff(edges) / 0.5
    return weights
