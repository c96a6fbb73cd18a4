"""When a threshold is reached."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.crossing import crossing

from .makers import made, sigmoid, white


def test_a_climb_reaches_the_threshold() -> None:
    result = crossing(made(sigmoid(400) + 0.05 * white(400)), 0.5)
    assert result.reached_step == pytest.approx(1600.0, abs=100.0)
    assert result.reached_earliest is not None
    assert result.reached_step is not None
    assert result.reached_earliest <= result.reached_step


def test_one_lucky_value_does_not_reach() -> None:
    values = 0.05 * white(200)
    values[70] = 2.0
    assert crossing(made(values), 1.0).reached_step is None


def test_a_threshold_that_was_lost_was_reached() -> None:
    values = np.repeat([0.0, 1.0, 0.0], 100) + 0.05 * white(300)
    assert crossing(values, 0.5).reached_step is not None


def test_a_return_pinned_exactly_at_the_threshold_has_reached_it() -> None:
    values = np.concatenate((np.linspace(20.1, 499.7, 50), np.full(50, 500.0)))
    assert crossing(values, 500.0).reached_step is not None


def test_a_short_log_of_evaluations_is_taken_as_it_is() -> None:
    assert crossing(made([1.0, 2.0, 6.0, 7.0]), 5.0).reached_step == 20.0


@pytest.mark.parametrize("threshold", [math.inf, -math.inf])
def test_an_infinite_threshold_is_answered(threshold: float) -> None:
    result = crossing(white(50), threshold)
    assert (result.reached_step is None) == (threshold > 0)


def test_an_unknown_threshold_is_not_answered() -> None:
    assert not crossing(white(50), math.nan).enough
