"""A level and its interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.level import level

from .makers import correlated, made, sigmoid, white


@pytest.mark.parametrize(("phi", "n"), [(0.0, 50), (0.5, 200), (0.9, 500)])
def test_the_interval_covers_the_true_level(phi: float, n: int) -> None:
    results = [level(row) for row in correlated(n, phi, seed=21, runs=150)]
    assert sum(result.low <= 0.0 <= result.high for result in results) >= 136


def test_the_interval_at_the_end_of_a_climb_is_narrow() -> None:
    result = level(sigmoid(400) + 0.1 * white(400))
    assert result.low <= 1.0 <= result.high
    assert result.high - result.low < 0.15


def test_a_window_is_a_share_of_the_steps_not_of_the_points() -> None:
    steps = np.concatenate((np.arange(90.0), [500.0, 950.0, 980.0, 1000.0]))
    result = level(made(np.arange(94.0), steps), window=(0.9, 1.0))
    assert result.n == 3
    assert result.value == 92.0


def test_a_window_at_an_end_grows_to_three_points() -> None:
    assert level(made(np.arange(20.0)), window=(0.0, 0.05)).n == 3
    assert level(made(np.arange(20.0)), window=(0.95, 1.0), at_least=5).n == 5


def test_a_window_in_a_gap_is_empty() -> None:
    result = level(made([1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 99.0, 100.0]), window=(0.4, 0.6))
    assert (result.n, result.enough) == (0, False)
    assert math.isnan(result.value)


def test_one_point_has_a_level_but_no_interval() -> None:
    result = level(made([7.0]))
    assert result.value == 7.0
    assert not result.enough
    assert math.isnan(result.low)


def test_a_fifth_of_wild_values_moves_nothing_unless_the_mean_is_asked_for() -> None:
    values = np.ones(100)
    values[::6] = 500.0
    assert level(values, window=(0.0, 1.0)).value == 1.0
    assert level(values, window=(0.0, 1.0), centre="mean").value > 50.0
