"""The noise of a series is that around its course, whatever the course and the density of the log."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals._scale import scaled
from rlclinic.signals._shapes import Data
from rlclinic.signals._wander import point_noise, wander
from rlclinic.signals.resample import resample

from .makers import correlated, made, sigmoid, white


def scale(data: Data) -> float:
    """Standard deviation of one logged point around the smooth course."""
    curve = resample(data)
    return scaled(curve).difference(point_noise(curve, wander(curve).deviation))


@pytest.mark.parametrize("n", [40, 300, 1200, 30_000])
def test_the_scale_is_that_of_the_noise(n: int) -> None:
    assert scale(5.0 * sigmoid(n) + 0.2 * white(n)) == pytest.approx(0.2, rel=0.3)


def test_a_jump_is_not_noise() -> None:
    values = np.where(np.arange(400) < 250, 0.0, 10.0) + 0.1 * white(400)
    assert scale(values) == pytest.approx(0.1, rel=0.3)


def test_outliers_do_not_inflate_the_scale() -> None:
    values = white(500)
    values[::25] = 1e6
    assert scale(values) == pytest.approx(1.0, rel=0.35)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_the_memory_of_the_noise_is_recovered(phi: float) -> None:
    found = [wander(resample(row)).phi for row in correlated(400, phi, seed=2, runs=40)]
    assert float(np.median(found)) == pytest.approx(phi, abs=0.08)


def test_rounded_values_scatter_at_least_by_their_rounding() -> None:
    assert scale(made(np.full(50, 0.12), decimals=2)) == pytest.approx(0.01 / np.sqrt(12.0))
    assert scale(made(np.full(50, 0.12))) == 0.0


def test_rare_successes_have_noise() -> None:
    success = (np.random.default_rng(0).random(300) < 0.05).astype(float)
    assert scale(success) > 0.0
