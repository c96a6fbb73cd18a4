"""The statistics over few seeds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlclinic.comparison.interquartile_mean import interquartile_mean
from rlclinic.trials.statistics import difference_interval, p_value, probability_of_improvement

few = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=6)


def test_the_interquartile_mean_leaves_out_the_outer_quarters() -> None:
    assert interquartile_mean([0, 1, 2, 1000]) == pytest.approx(1.5)
    assert interquartile_mean([5.0]) == 5.0
    assert interquartile_mean([0.0, 3.0, 6.0]) == pytest.approx(3.0)
    assert math.isnan(interquartile_mean([]))


@given(few, st.floats(-100, 100), st.floats(0.1, 10))
def test_the_interquartile_mean_follows_shift_and_scale(values: list[float], shift: float, scale: float) -> None:
    moved = [scale * value + shift for value in values]
    assert interquartile_mean(moved) == pytest.approx(scale * interquartile_mean(values) + shift, abs=1e-6)


def test_p_is_the_share_of_relabellings_at_least_as_favourable() -> None:
    assert p_value([0, 0.1, 0.2], [1, 1.1, 1.2]) == pytest.approx(1 / 20)
    assert p_value([0, 1, 2, 3], [4, 5, 6, 7]) == pytest.approx(1 / 70)
    assert p_value([1, 1.1, 1.2], [0, 0.1, 0.2]) == 1.0
    assert p_value([1, 1, 1], [1, 1, 1]) == 1.0


@given(few, few)
def test_the_two_sides_of_the_test_cover_everything(before: list[float], after: list[float]) -> None:
    assert p_value(before, after) + p_value(after, before) >= 1.0 - 1e-9


def test_the_test_keeps_its_level_when_nothing_differs() -> None:
    random = np.random.default_rng(3)
    false = sum(p_value(list(random.normal(size=4)), list(random.normal(size=4))) <= 0.05 for _ in range(400))
    assert false <= 30  # 5% of 400 is 20; 30 is 2.3 standard deviations above it


def test_many_seeds_are_drawn_rather_than_enumerated() -> None:
    assert p_value(list(range(12)), list(range(12, 24))) < 0.001


@given(few, few)
def test_improvement_counts_ties_half(before: list[float], after: list[float]) -> None:
    there, back = probability_of_improvement(before, after), probability_of_improvement(after, before)
    assert there + back == pytest.approx(1.0)


def test_the_interval_holds_the_difference_of_two_separate_groups() -> None:
    low, high = difference_interval([0.0, 1.0, 2.0], [10.0, 11.0, 12.0])
    assert 7.5 < low <= 10.0 <= high < 12.5
