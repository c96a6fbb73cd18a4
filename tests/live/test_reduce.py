"""A metric in bounded memory keeps its course, its noise and what stands out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.live.reduce import BoundedSeries


def logged(values: np.ndarray, most: int = 200) -> BoundedSeries:
    series = BoundedSeries(most)
    for step, value in enumerate(values):
        series.add(float(step), float(value), float(step))
    return series


def test_a_short_metric_is_kept_whole() -> None:
    values = np.random.default_rng(0).normal(size=150)
    steps, kept, _ = logged(values).arrays()
    assert kept.tolist() == values.tolist()
    assert steps.tolist() == list(range(150))


@pytest.mark.parametrize("count", [200, 201, 1_000, 12_345])
def test_a_long_metric_keeps_a_bounded_number_of_points_from_start_to_end(count: int) -> None:
    steps, values, times = logged(np.arange(count, dtype=float)).arrays()
    assert values.size <= 200
    assert steps[-1] == count - 1
    assert steps[0] < 0.02 * count
    assert np.all(np.diff(steps) > 0)
    assert times.tolist() == steps.tolist() == values.tolist()


def test_level_and_noise_stay_what_they_were() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, size=20_000)
    kept = logged(values, 2_000).arrays()[1]
    assert kept.mean() == pytest.approx(5.0, abs=0.3)
    assert kept.std() == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("odd", [math.nan, math.inf, 1e6])
def test_a_single_odd_point_among_thousands_is_not_lost(odd: float) -> None:
    values = np.random.default_rng(2).normal(size=10_000)
    values[6_321] = odd
    kept = logged(values).arrays()[1]
    assert np.count_nonzero(~np.isfinite(kept) if not math.isfinite(odd) else kept == odd) == 1
