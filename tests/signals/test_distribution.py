"""The shape of a set of values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.distribution import distribution

from .makers import white


@pytest.mark.parametrize("n", [100, 1000, 50_000])
def test_one_hump_has_no_valley(n: int) -> None:
    result = distribution(white(n))
    assert result.valley > 0.5
    assert result.separation == pytest.approx(2.65, abs=0.35)


@pytest.mark.parametrize("n", [100, 1000, 50_000])
def test_two_humps_have_a_valley(n: int) -> None:
    values = white(n) + np.where(np.random.default_rng(1).random(n) < 0.3, 0.0, 10.0)
    result = distribution(values)
    assert result.valley < 0.05
    assert result.lower == pytest.approx(0.0, abs=0.5)
    assert result.upper == pytest.approx(10.0, abs=0.5)
    assert result.lower_share == pytest.approx(0.3, abs=0.12)


def test_success_or_failure_are_two_groups() -> None:
    result = distribution(np.repeat([0.0, 1.0], [75, 25]))
    assert (result.lower, result.upper, result.lower_share) == (0.0, 1.0, 0.75)
    assert math.isinf(result.separation)
    assert result.valley == 0.0


def test_whole_numbers_are_not_taken_for_many_humps() -> None:
    values = np.round(10.0 * white(20_000) + 100.0)
    assert distribution(values).valley > 0.7


def test_one_value_has_no_groups() -> None:
    result = distribution(np.full(20, 0.1))
    assert math.isnan(result.separation)
    assert math.isnan(result.valley)
