"""Jumps between levels."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.change_points import change_points

from .makers import correlated, made, white


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_noise_has_no_jumps(phi: float) -> None:
    alarms = sum(bool(change_points(row).points) for row in correlated(500, phi, seed=61, runs=100))
    assert alarms <= 5


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_two_jumps_are_found_where_they_are(noise: float) -> None:
    levels = np.repeat([0.0, 4.0, 1.0], [150, 100, 150])
    found = change_points(made(levels + noise * white(400, 3))).points
    assert len(found) == 2
    for point, step, difference in zip(found, (1500.0, 2500.0), (4.0, -3.0), strict=True):
        assert point.step == pytest.approx(step, abs=60.0)
        assert point.low_step <= step <= point.high_step
        assert point.difference == pytest.approx(difference, abs=0.5)


def test_the_effect_counts_noise_units() -> None:
    (point,) = change_points(np.repeat([0.0, 3.0], 200) + 0.5 * white(400)).points
    assert point.effect == pytest.approx(6.0, rel=0.25)
    assert point.difference == pytest.approx(3.0, abs=0.2)


def test_the_step_is_less_certain_the_noisier_the_jump() -> None:
    widths = []
    for noise in (0.1, 1.0):
        (point,) = change_points(made(np.repeat([0.0, 3.0], 200) + noise * white(400))).points
        widths.append(point.high_step - point.low_step)
    assert widths[0] < widths[1]


def test_a_collapse_after_a_climb_is_found() -> None:
    values = np.where(np.arange(400) < 280, np.minimum(1.0, np.arange(400) / 200.0), 0.05) + 0.1 * white(400)
    falls = [point.step for point in change_points(values).points if point.difference < 0.0]
    assert falls == [pytest.approx(280.0, abs=3.0)]


def test_a_long_series_is_searched_on_its_curve() -> None:
    values = np.repeat([0.0, 1.0], 50_000) + white(100_000)
    (point,) = change_points(made(values)).points
    assert point.step == pytest.approx(500_000.0, abs=5000.0)


def test_a_ramp_is_a_staircase_of_at_most_the_wanted_steps() -> None:
    points = change_points(np.linspace(0.0, 1.0, 400), most=5).points
    assert len(points) == 5
    assert all(point.difference > 0.0 for point in points)
