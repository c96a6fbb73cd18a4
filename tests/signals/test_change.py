"""The difference between two windows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.change import change

from .makers import correlated, sigmoid, white


@pytest.mark.parametrize(("phi", "n"), [(0.0, 60), (0.5, 200), (0.9, 500)])
def test_two_windows_of_one_level_rarely_differ(phi: float, n: int) -> None:
    alarms = sum(change(row).p_value < 0.05 for row in correlated(n, phi, seed=31, runs=200))
    assert alarms / 200 <= 0.09


def test_a_climb_is_counted_in_noise_units() -> None:
    result = change(sigmoid(400) + 0.1 * white(400))
    assert result.effect == pytest.approx(10.0, rel=0.15)
    assert result.effect_low < 10.0 < result.effect_high
    assert result.p_value < 1e-6


def test_windows_can_be_chosen() -> None:
    values = np.concatenate((np.zeros(100), np.ones(100), np.zeros(100))) + 0.1 * white(300)
    middle = change(values, before=(0.0, 0.3), after=(0.4, 0.6))
    ends = change(values, before=(0.0, 0.3), after=(0.7, 1.0))
    assert middle.difference == pytest.approx(1.0, abs=0.05)
    assert ends.low < 0.0 < ends.high


def test_without_noise_any_difference_is_infinitely_many_noise_units() -> None:
    result = change(np.repeat([1.0, 2.0], 30))
    assert result.effect > 1e6 or math.isinf(result.effect)
    assert result.difference == 1.0


def test_a_constant_series_has_no_effect() -> None:
    assert change(np.full(50, 3.0)).effect == 0.0


def test_the_effect_does_not_depend_on_how_densely_the_series_was_logged() -> None:
    sparse = change(sigmoid(400) + 0.3 * white(400))
    dense = change(sigmoid(40_000) + 0.3 * white(40_000))
    assert dense.effect == pytest.approx(sparse.effect, rel=0.25)
    assert dense.effect_high - dense.effect_low < sparse.effect_high - sparse.effect_low
