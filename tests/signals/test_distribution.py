"""The shape of a set of values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.distribution import distribution

from .makers import made, white


@pytest.mark.parametrize("n", [100, 1000, 50_000])
def test_one_hump_has_no_valley(n: int) -> None:
    result = distribution(white(n))
    assert result.valley_high > 0.8
    assert result.separation == pytest.approx(2.65, abs=0.35)
    assert result.atoms == ()


@pytest.mark.parametrize("n", [100, 1000, 50_000])
def test_two_humps_have_a_valley(n: int) -> None:
    values = white(n) + np.where(np.random.default_rng(1).random(n) < 0.3, 0.0, 10.0)
    result = distribution(values)
    assert result.valley_high < 0.5
    assert result.valley < 0.05
    assert result.lower == pytest.approx(0.0, abs=0.5)
    assert result.upper == pytest.approx(10.0, abs=0.5)
    assert result.lower_share == pytest.approx(0.3, abs=0.12)


def test_success_or_failure_is_two_atoms() -> None:
    values = np.repeat([0.0, 1.0], [75, 25])
    result = distribution(values)
    assert [(atom.value, atom.share) for atom in result.atoms] == [(0.0, 0.75), (1.0, 0.25)]
    assert result.distinct == 2
    assert result.split == pytest.approx(1.0)
    assert result.valley == 0.0


def test_whole_numbers_are_not_taken_for_many_humps() -> None:
    values = np.round(10.0 * white(20_000) + 100.0)
    assert distribution(values).valley > 0.7


def test_returns_pinned_at_a_limit_are_an_atom() -> None:
    values = np.minimum(200.0 + 100.0 * white(1000), 250.0)
    (atom,) = distribution(values).atoms
    assert atom.value == 250.0
    assert atom.share == pytest.approx(0.31, abs=0.05)


def test_a_window_looks_only_at_its_part() -> None:
    values = np.concatenate((np.zeros(100), np.ones(100)))
    assert distribution(made(values), window=(0.6, 1.0)).mean == 1.0
    assert distribution(made(values), window=(0.6, 1.0)).distinct == 1


def test_one_value_has_no_groups() -> None:
    result = distribution(np.full(20, 0.1))
    assert math.isnan(result.split)
    assert math.isnan(result.valley)
    assert result.deviation == 0.0
    assert result.mean == pytest.approx(0.1)


def test_quantiles_are_those_of_the_values() -> None:
    result = distribution(np.arange(101.0))
    assert result.quantiles == pytest.approx((0.0, 5.0, 25.0, 50.0, 75.0, 95.0, 100.0))
