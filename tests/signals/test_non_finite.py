"""The first value that is no number."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.signals.non_finite import non_finite

from .makers import made


def test_the_onset_of_nan_is_found_and_persists() -> None:
    result = non_finite(made([1.0, 2.0, math.nan, math.nan]))
    assert (result.first_step, result.last_finite_step) == (20.0, 10.0)
    assert (result.count, result.nan) == (2, 2)
    assert result.persists


def test_a_run_that_recovers_does_not_persist() -> None:
    result = non_finite(made([1.0, math.inf, 3.0, -math.inf, 5.0]))
    assert (result.positive_infinity, result.negative_infinity, result.nan) == (1, 1, 0)
    assert result.share_after == 0.5
    assert not result.persists


def test_finite_values_have_no_onset() -> None:
    result = non_finite(made(np.arange(5.0)))
    assert (result.count, result.first_step, result.last_finite_step) == (0, None, 40.0)
    assert not result.persists


def test_values_that_never_were_numbers_have_no_last_finite_step() -> None:
    result = non_finite(made([math.nan, math.nan]))
    assert result.last_finite_step is None
    assert result.persists
    assert result.enough


def test_nothing_logged_is_not_enough() -> None:
    assert not non_finite(made([])).enough
