"""A trend is found where there is one, and noise with a memory is not one."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.trend import trend

from .makers import correlated, made, sigmoid, white


@pytest.mark.parametrize(("phi", "n"), [(0.0, 30), (0.5, 100), (0.9, 200), (0.9, 500), (0.9, 3000)])
def test_noise_without_a_trend_is_rarely_called_one(phi: float, n: int) -> None:
    noise = correlated(n, phi, seed=11, runs=300)
    alarms = sum(trend(row).p_value < 0.05 for row in noise)
    assert alarms / 300 <= 0.07


def test_the_interval_of_the_slope_covers_the_truth() -> None:
    noise = correlated(300, 0.8, seed=12, runs=200)
    ramp = np.linspace(0.0, 2.0, 300)
    results = [trend(made(row + ramp)) for row in noise]
    assert sum(result.low <= 2.0 / 2990.0 <= result.high for result in results) >= 184


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_a_rise_of_three_noise_units_is_mostly_found(phi: float) -> None:
    noise = correlated(500, phi, seed=13, runs=60)
    found = sum(trend(row + np.linspace(0.0, 3.0, 500)).p_value < 0.05 for row in noise)
    assert found >= 45


def test_a_line_has_its_slope_per_step() -> None:
    result = trend(made(np.arange(100.0) * 3.0))
    assert result.slope == pytest.approx(0.3)
    assert result.low == pytest.approx(0.3)
    assert result.high == pytest.approx(0.3)
    assert result.p_value < 1e-6


def test_one_in_five_points_gone_wild_does_not_bend_the_slope() -> None:
    values = np.linspace(0.0, 10.0, 200) + 0.1 * white(200)
    values[::5] += 1000.0 * np.abs(white(40, 1))
    assert trend(values).slope == pytest.approx(10.0 / 199.0, rel=0.15)


def test_a_climb_is_significant_although_it_is_no_line() -> None:
    assert trend(sigmoid(200, speed=40.0) + 0.1 * white(200)).p_value < 0.01


def test_a_window_looks_only_at_its_part() -> None:
    values = np.concatenate((np.linspace(0.0, 5.0, 200), np.full(200, 5.0))) + 0.1 * white(400)
    assert trend(values, window=(0.0, 0.5)).p_value < 1e-4
    assert trend(values, window=(0.5, 1.0)).p_value > 0.05
    assert trend(values, window=(0.5, 1.0)).n == 200


def test_rare_successes_that_become_common_are_a_trend() -> None:
    chance = np.linspace(0.0, 0.6, 400)
    success = (np.random.default_rng(4).random(400) < chance).astype(float)
    assert trend(success).p_value < 1e-4
