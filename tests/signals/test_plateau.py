"""Since when a series is flat."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.plateau import plateau

from .makers import correlated, made, sigmoid, white


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_a_climb_settles_where_it_ends(noise: float) -> None:
    ramp = np.minimum(np.linspace(0.0, 2.0, 400), 1.0)
    result = plateau(made(ramp + noise * white(400)))
    assert result.since_step == pytest.approx(2000.0, abs=250.0)


def test_a_long_flat_end_is_sure() -> None:
    assert plateau(np.minimum(np.linspace(0.0, 5.0, 500), 1.0) + 0.02 * white(500)).confidence > 0.95


def test_a_series_that_still_climbs_has_a_short_plateau_of_low_confidence() -> None:
    result = plateau(np.linspace(0.0, 1.0, 300) + 0.02 * white(300))
    assert result.share < 0.15
    assert result.confidence < 0.5


def test_a_noisy_climb_is_cut_to_the_stretch_that_may_be_flat() -> None:
    assert plateau(np.linspace(0.0, 1.0, 500) + 0.2 * white(500)).share < 0.4


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_noise_around_one_level_is_a_plateau_from_the_start(phi: float) -> None:
    shares = [plateau(row).share for row in correlated(400, phi, seed=51, runs=40)]
    assert float(np.median(shares)) > 0.95


def test_a_wider_tolerance_finds_an_earlier_plateau() -> None:
    values = sigmoid(400, speed=10.0)
    assert plateau(values, tolerance=0.2).share > plateau(values, tolerance=0.01).share
