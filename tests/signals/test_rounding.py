"""What printing hides."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.rounding import rounding

from .makers import made, white


def test_a_printed_zero_is_not_zero() -> None:
    result = rounding(made([0.0, 0.0, 0.004, 0.5], decimals=3))
    assert result.printed_zeros == 2
    assert result.largest_hidden == 0.0005
    assert result.resolution == 0.001


def test_values_of_one_or_two_resolutions_are_coarse() -> None:
    result = rounding(made([0.1, 0.003, 0.002, 0.001, 0.0], decimals=3))
    assert result.coarse == 3
    assert result.coarse_share == 0.6
    assert result.first_coarse_step == 20.0


def test_the_range_is_counted_in_resolutions() -> None:
    assert rounding(np.array([0.01, 0.04]), decimals=2).range_in_resolutions == pytest.approx(3.0)


def test_unrounded_values_are_not_answered() -> None:
    assert not rounding(made(white(10))).enough


def test_the_decimals_of_the_series_can_be_overruled() -> None:
    assert rounding(made([0.04], decimals=3), decimals=1).printed_zeros == 1


def test_whole_numbers_have_a_resolution_of_one() -> None:
    assert rounding(made([0.0, 5.0], decimals=0)).resolution == 1.0
