"""Resampling keeps the course, the extremes, the gaps and the count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.signals.resample import resample

from .makers import made, sigmoid, white


@given(n=st.integers(1, 3000), seed=st.integers(0, 100))
@settings(derandomize=True, max_examples=60)
def test_no_point_is_lost_and_bins_stay_in_order(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    series = made(rng.normal(size=n), np.cumsum(rng.integers(0, 4, size=n)))
    curve = resample(series)
    assert len(curve) <= 500
    assert int(curve.counts.sum()) == curve.n == n
    assert (np.diff(curve.steps) > 0).all()
    assert ((curve.low <= curve.values) & (curve.values <= curve.high)).all()
    assert curve.low.min() == series.values.min()
    assert curve.high.max() == series.values.max()


def test_a_short_series_without_repeated_steps_is_kept_as_it_is() -> None:
    series = made(white(500))
    curve = resample(series)
    assert (curve.values == series.values).all()
    assert (curve.steps == series.steps).all()


def test_points_of_one_step_become_their_middle() -> None:
    curve = resample(made([1.0, 2.0, 30.0, 5.0], [0.0, 7.0, 7.0, 7.0]))
    assert curve.values.tolist() == [1.0, 5.0]
    assert curve.low.tolist() == [1.0, 2.0]
    assert curve.high.tolist() == [1.0, 30.0]


def test_the_mean_keeps_rare_successes_that_the_middle_hides() -> None:
    values = (np.arange(10_000) % 10 == 0).astype(float)
    assert resample(made(values)).values.max() == 0.0
    assert resample(made(values), centre="mean").values == pytest.approx(np.full(500, 0.1))


def test_a_gap_stays_a_gap() -> None:
    steps = np.concatenate((np.arange(5000.0), np.arange(8000.0, 10_000.0)))
    curve = resample(made(white(7000), steps))
    assert not ((curve.steps > 5010) & (curve.steps < 7990)).any()


def test_one_wrong_step_far_away_does_not_merge_everything_else() -> None:
    steps = np.concatenate((np.arange(4999.0), [1e12]))
    curve = resample(made(sigmoid(5000), steps))
    assert len(curve) > 400


def test_the_spread_within_bins_is_that_of_the_noise() -> None:
    curve = resample(made(sigmoid(50_000) + 0.3 * white(50_000)))
    assert float(np.median(curve.spread)) == pytest.approx(0.3, rel=0.05)


def test_resampling_a_curve_again_keeps_extremes_and_count() -> None:
    series = made(white(20_000))
    coarse = resample(resample(series), bins=50)
    assert len(coarse) == 50
    assert coarse.n == int(coarse.counts.sum()) == 20_000
    assert coarse.high.max() == series.values.max()
    assert coarse.low.min() == series.values.min()


def test_a_curve_that_is_short_enough_is_returned_unchanged() -> None:
    curve = resample(made(white(100)))
    assert resample(curve) is curve


def test_steps_out_of_order_are_sorted() -> None:
    curve = resample(made([3.0, 1.0, 2.0], [30.0, 10.0, 20.0]))
    assert curve.values.tolist() == [1.0, 2.0, 3.0]
