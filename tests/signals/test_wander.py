"""The noise model behind all intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals._memory import PHIS, expectations, quadratic
from rlclinic.signals._robust import t_quantile, two_sided
from rlclinic.signals._wander import wander_of

from .makers import correlated, white


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_a_value_at_the_end_of_the_interval_has_the_matching_p_value(confidence: float) -> None:
    for seed in range(5):
        error = wander_of(correlated(120, 0.7, seed)[0] / 3.0).error(np.full(120, 1.0 / 120))
        assert error.p_value(error.half_width(confidence)) == pytest.approx(1.0 - confidence, rel=0.05)


@pytest.mark.parametrize("n", [40, 300])
def test_the_variance_of_a_weighted_sum_is_that_of_the_full_matrix(n: int) -> None:
    contrast = white(n)
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    expected = [contrast @ phi**lags @ contrast for phi in PHIS]
    assert quadratic(contrast, np.ones(PHIS.size, dtype=bool)) == pytest.approx(expected)


def test_the_expected_residuals_are_those_of_simulated_noise() -> None:
    rows = correlated(60, 0.8, seed=3, runs=4000)
    x = np.linspace(0.0, 1.0, 60)
    basis = np.linalg.qr(np.column_stack((np.ones(60), x, np.maximum(0.0, x - 0.5))))[0]
    residuals = rows - rows @ basis @ basis.T
    power = (residuals**2).sum(axis=1).mean()
    lagged = (residuals[:, 1:] * residuals[:, :-1]).sum(axis=1).mean()
    kept, seen = expectations(60, 2)
    at = int(np.argmin(np.abs(PHIS - 0.8)))
    assert kept[at] == pytest.approx(power, rel=0.02)
    assert seen[at] == pytest.approx(lagged / power, rel=0.02)


@pytest.mark.parametrize(("dof", "t"), [(3.0, 3.182), (5.0, 2.571), (10.0, 2.228), (30.0, 2.042), (1e6, 1.96)])
def test_the_tail_of_students_distribution_is_that_of_the_tables(dof: float, t: float) -> None:
    assert two_sided(t, dof) == pytest.approx(0.05, rel=0.03)
    assert t_quantile(0.95, dof) == pytest.approx(t, rel=0.02)


def test_values_without_noise_are_certain() -> None:
    error = wander_of(np.linspace(-1.0, 1.0, 50)).error(np.full(50, 0.02))
    assert error.half_width() == 0.0
    assert error.p_value(0.0) == 1.0
    assert error.p_value(1.0) == 0.0


def test_three_points_leave_everything_open() -> None:
    error = wander_of(white(3)).error(np.full(3, 1.0 / 3.0))
    assert math.isnan(error.half_width())
    assert math.isnan(error.p_value(1.0))
