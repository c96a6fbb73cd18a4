"""Since when a series is away from a level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.departure import departure
from tests.signals.makers import correlated, made, white


def test_a_series_that_leaves_zero_half_way_departs_there_and_stays_away() -> None:
    values = np.where(np.arange(200) < 100, 0.0, 5.0) + 0.3 * white(200)
    found = departure(made(values))
    assert found.step == pytest.approx(1000, abs=60)
    assert found.end_step is None
    assert not found.from_start
    assert found.difference == pytest.approx(5.0, rel=0.05)


def test_a_series_that_comes_back_tells_when() -> None:
    values = np.where((np.arange(300) >= 60) & (np.arange(300) < 160), -4.0, 0.0) + 0.2 * white(300)
    found = departure(made(values))
    assert found.step == pytest.approx(600, abs=80)
    assert found.end_step == pytest.approx(1600, abs=80)
    assert found.difference < -3.0


def test_a_series_that_is_away_from_the_start_shows_no_departure() -> None:
    found = departure(made(3.0 + 0.2 * white(100)))
    assert found.from_start
    assert found.step == 0.0


@pytest.mark.parametrize("phi", [0.0, 0.6])
def test_noise_around_zero_hardly_ever_departs(phi: float) -> None:
    rows = correlated(150, phi, seed=3, runs=60)
    assert sum(departure(made(row)).step is not None for row in rows) <= 3


def test_a_difference_that_is_not_material_is_none() -> None:
    values = np.where(np.arange(200) < 100, 0.0, 1.0) + 0.01 * white(200)
    assert departure(made(values)).step is not None
    assert departure(made(values), material=2.0).step is None


def test_the_level_shifts_what_counts_as_away() -> None:
    values = np.where(np.arange(200) < 100, 7.0, 9.0) + 0.1 * white(200)
    assert departure(made(values), level=7.0).step == pytest.approx(1000, abs=60)


def test_scaling_and_shifting_the_series_changes_only_the_unit() -> None:
    values = np.where(np.arange(200) < 120, 0.0, 3.0) + 0.2 * white(200, seed=5)
    plain, scaled = departure(made(values)), departure(made(1e6 * values))
    assert scaled.step == plain.step
    assert scaled.difference == pytest.approx(1e6 * plain.difference)


def test_a_level_that_is_not_a_number_says_nothing() -> None:
    assert not departure(made(white(50)), level=math.nan).enough
