"""Exact repetition and silence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.constants import constants

from .makers import made, white


def test_an_update_that_never_ran_is_constant() -> None:
    result = constants(made(np.zeros(30)))
    assert result.constant
    assert result.zeros == 30
    assert result.repeats == 1.0
    assert result.longest is not None
    assert (result.longest.points, result.longest.value) == (30, 0.0)


def test_stretches_at_both_ends_and_the_longest_are_told_apart() -> None:
    result = constants(made([1.0, 1.0, 5.0, 2.0, 2.0, 2.0, 4.0, 3.0, 3.0]))
    assert result.first is not None
    assert result.last is not None
    assert result.longest is not None
    assert (result.first.points, result.first.end_step) == (2, 10.0)
    assert (result.last.points, result.last.start_step, result.last.value) == (2, 70.0, 3.0)
    assert (result.longest.value, result.longest.start_step, result.longest.end_step) == (2.0, 30.0, 50.0)
    assert result.repeats == 0.5
    assert not result.constant


def test_noise_never_repeats() -> None:
    result = constants(white(1000))
    assert result.repeats == 0.0
    assert result.longest is not None
    assert result.longest.points == 1


def test_a_metric_that_falls_silent_is_told_by_its_share_of_the_run() -> None:
    result = constants(made(white(51)), run_end=1000.0)
    assert result.silent_share == pytest.approx(0.5)


def test_a_metric_logged_up_to_the_end_is_not_silent() -> None:
    assert constants(made(white(51)), run_end=500.0).silent_share == 0.0
    assert constants(made(white(51)), run_end=400.0).silent_share == 0.0


def test_without_an_end_of_the_run_silence_is_unknown() -> None:
    assert math.isnan(constants(made(white(51))).silent_share)


def test_nan_does_not_break_a_constant() -> None:
    assert constants(made([2.0, math.nan, 2.0])).constant
