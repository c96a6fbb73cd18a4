"""Swings and their period."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.oscillation import oscillation

from .makers import made, sigmoid, white


@pytest.mark.parametrize("noise", [0.0, 0.2, 0.5])
def test_a_sine_has_its_period(noise: float) -> None:
    values = np.sin(np.arange(500) * 2.0 * math.pi / 80.0) + noise * white(500)
    result = oscillation(made(values))
    assert result.period == pytest.approx(800.0, rel=0.1)
    assert result.turns in (11, 12, 13)
    assert result.regularity > 0.8


def test_a_climb_does_not_swing() -> None:
    assert oscillation(sigmoid(400) + 0.05 * white(400)).turns <= 1


def test_one_rise_and_fall_is_one_turn() -> None:
    result = oscillation(np.concatenate((np.linspace(0, 1, 100), np.linspace(1, 0, 100))))
    assert result.turns == 1
    assert math.isnan(result.period)


def test_swings_below_the_wanted_size_do_not_count() -> None:
    values = np.linspace(0.0, 10.0, 400) + np.sin(np.arange(400) / 8.0)
    assert oscillation(values, material=0.5).turns == 0
    assert oscillation(values, material=0.05).turns > 5
