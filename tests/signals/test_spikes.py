"""Values far off the course."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.resample import resample
from rlclinic.signals.spikes import spikes

from .makers import correlated, made, sigmoid, white


@pytest.mark.parametrize("n", [60, 500, 20_000])
def test_normal_noise_has_no_spikes(n: int) -> None:
    assert not spikes(sigmoid(n) + 0.1 * white(n)).largest
    assert not spikes(correlated(n, 0.9, seed=1)[0]).largest


@pytest.mark.parametrize("n", [300, 3000, 50_000])
def test_spikes_are_found_where_they_are(n: int) -> None:
    values = white(n)
    at = [n // 7, n // 3, n - 5]
    values[at] = [40.0, -60.0, 80.0]
    result = spikes(made(values))
    assert [spike.step for spike in result.largest] == [index * 10.0 for index in at]
    assert [spike.value for spike in result.largest] == [40.0, -60.0, 80.0]
    assert [spike.z > 0.0 for spike in result.largest] == [True, False, True]
    assert result.share == pytest.approx(3.0 / n)


def test_a_spike_small_against_the_range_is_not_material() -> None:
    values = np.linspace(0.0, 1000.0, 400) + white(400)
    values[200] += 30.0
    assert not spikes(values).largest
    assert len(spikes(values, material=0.01).largest) == 1


def test_a_jump_to_a_new_level_is_no_spike() -> None:
    assert not spikes(np.repeat([0.0, 10.0], 200) + 0.1 * white(400)).largest


def test_neighbouring_points_are_one_spike() -> None:
    values = white(400)
    values[100:103] = [30.0, 50.0, 30.0]
    result = spikes(values)
    assert result.share == 3 / 400
    assert [spike.value for spike in result.largest] == [50.0]


def test_a_single_deviation_from_a_constant_is_very_far() -> None:
    values = np.full(100, 2.0)
    values[40] = 2.5
    (spike,) = spikes(values).largest
    assert spike.z > 50.0


def test_the_last_printed_digit_is_no_spike() -> None:
    values = np.zeros(100)
    values[40] = 0.001
    assert not spikes(made(values, decimals=3)).largest


def test_a_shared_curve_still_shows_the_spikes_of_its_points() -> None:
    values = white(50_000)
    values[20_000] = 500.0
    (spike,) = spikes(resample(made(values))).largest
    assert spike.value == 500.0
    assert spike.step == pytest.approx(200_000.0, abs=2000.0)
