"""Exact repetition."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.signals.constants import constants

from .makers import made, white


def test_an_update_that_never_ran_is_constant() -> None:
    result = constants(made(np.zeros(30)))
    assert result.constant
    assert (result.n, result.zeros, result.value) == (30, 30, 0.0)


def test_one_other_value_breaks_a_constant() -> None:
    result = constants(made([2.0, 2.0, 2.0, 0.0]))
    assert not result.constant
    assert result.zeros == 1


def test_noise_never_repeats() -> None:
    assert not constants(white(1000)).constant


def test_nan_does_not_break_a_constant() -> None:
    assert constants(made([2.0, math.nan, 2.0])).constant
