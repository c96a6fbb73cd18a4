"""The noise of a series is that around its course, whatever the course and the density of the log."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.noise import noise

from .makers import correlated, made, sigmoid, white


@pytest.mark.parametrize("n", [40, 300, 1200, 30_000])
def test_the_scale_is_that_of_the_noise(n: int) -> None:
    result = noise(5.0 * sigmoid(n) + 0.2 * white(n))
    assert result.scale == pytest.approx(0.2, rel=0.3)
    assert result.low < 0.2 < result.high


def test_a_jump_is_not_noise() -> None:
    values = np.where(np.arange(400) < 250, 0.0, 10.0) + 0.1 * white(400)
    assert noise(values).scale == pytest.approx(0.1, rel=0.3)


def test_outliers_do_not_inflate_the_scale() -> None:
    values = white(500)
    values[::25] = 1e6
    assert noise(values).scale == pytest.approx(1.0, rel=0.35)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_the_memory_of_the_noise_is_recovered(phi: float) -> None:
    found = [noise(row).autocorrelation for row in correlated(400, phi, seed=2, runs=40)]
    assert float(np.median(found)) == pytest.approx(phi, abs=0.08)


def test_noise_with_a_memory_has_few_independent_points() -> None:
    slow = [noise(row).effective_n for row in correlated(500, 0.9, seed=5, runs=20)]
    fast = [noise(row).effective_n for row in correlated(500, 0.0, seed=5, runs=20)]
    assert float(np.median(slow)) < 60.0
    assert float(np.median(fast)) > 150.0


def test_rounded_values_scatter_at_least_by_their_rounding() -> None:
    result = noise(made(np.full(50, 0.12), decimals=2))
    assert result.scale == pytest.approx(0.01 / np.sqrt(12.0))
    assert noise(made(np.full(50, 0.12))).scale == 0.0


def test_the_noise_of_a_curve_point_is_smaller_than_that_of_a_logged_point() -> None:
    result = noise(white(50_000))
    assert result.curve_scale < 0.3 * result.scale


def test_rare_successes_have_noise() -> None:
    success = (np.random.default_rng(0).random(300) < 0.05).astype(float)
    assert noise(success).scale > 0.0
