"""When a threshold is reached and held."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.crossing import crossing

from .makers import made, sigmoid, white


def test_a_climb_reaches_the_threshold_and_holds_it() -> None:
    result = crossing(made(sigmoid(400) + 0.05 * white(400)), 0.5)
    assert result.reached_step == pytest.approx(1600.0, abs=100.0)
    assert result.held_step == result.reached_step
    assert result.reached_earliest is not None
    assert result.reached_latest is not None
    assert result.reached_step is not None
    assert result.reached_earliest <= result.reached_step <= result.reached_latest
    assert result.margin == pytest.approx(0.5, abs=0.05)
    assert result.margin_noise == pytest.approx(10.0, rel=0.2)


def test_one_lucky_value_touches_but_does_not_reach() -> None:
    values = 0.05 * white(200)
    values[70] = 2.0
    result = crossing(made(values), 1.0)
    assert result.touched_step == 700.0
    assert result.reached_step is None
    assert math.isnan(result.share_after)


def test_a_threshold_that_was_lost_is_reached_but_not_held() -> None:
    values = np.repeat([0.0, 1.0, 0.0], 100) + 0.05 * white(300)
    result = crossing(values, 0.5)
    assert result.reached_step is not None
    assert result.held_step is None
    assert result.share_after == pytest.approx(0.5, abs=0.05)
    assert result.margin < 0.0


def test_a_return_pinned_exactly_at_the_threshold_has_reached_it() -> None:
    values = np.concatenate((np.linspace(20.1, 499.7, 50), np.full(50, 500.0)))
    result = crossing(values, 500.0)
    assert result.reached_step is not None
    assert result.held_step is not None
    assert result.margin == 0.0


def test_a_short_log_of_evaluations_is_taken_as_it_is() -> None:
    result = crossing(made([1.0, 2.0, 6.0, 7.0]), 5.0)
    assert result.reached_step == 20.0
    assert result.held_step == 20.0


@pytest.mark.parametrize("threshold", [math.inf, -math.inf])
def test_an_infinite_threshold_is_answered(threshold: float) -> None:
    result = crossing(white(50), threshold)
    assert (result.reached_step is None) == (threshold > 0)


def test_an_unknown_threshold_is_not_answered() -> None:
    assert not crossing(white(50), math.nan).enough
