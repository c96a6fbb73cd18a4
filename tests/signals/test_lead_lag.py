"""Which of two series moved first."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.series import FloatArray
from rlclinic.signals.lead_lag import lead_lag

from .makers import made, white


def jump(at: int, seed: int, height: float = -3.0) -> FloatArray:
    """A jump in noise."""
    return np.where(np.arange(400) < at, 0.0, height) + 0.5 * white(400, seed)


@pytest.mark.parametrize("lag", [30, 100, -60])
def test_the_one_that_jumps_earlier_leads(lag: int) -> None:
    result = lead_lag(made(jump(200, 1)), made(jump(200 + lag, 2, height=50.0)))
    assert result.lag == pytest.approx(10.0 * lag, abs=60.0)
    assert result.low <= 10.0 * lag <= result.high
    assert (result.probability > 0.95) == (lag > 0)
    assert (result.probability < 0.05) == (lag < 0)


def test_a_jump_at_the_same_time_has_no_leader() -> None:
    result = lead_lag(made(jump(200, 1)), made(jump(200, 2)))
    assert result.low <= 0.0 <= result.high
    assert 0.02 < result.probability < 0.98


def test_without_a_jump_in_both_there_is_no_order() -> None:
    result = lead_lag(made(jump(200, 1)), made(white(400, 5)))
    assert not result.enough
    assert result.first is not None
    assert result.second is None


def test_the_delay_of_a_running_mean_is_taken_off() -> None:
    late = lead_lag(made(jump(230, 1)), made(jump(200, 2)), delays=(500.0, 0.0))
    assert late.lag == pytest.approx(200.0, abs=60.0)


def test_a_direction_can_be_asked_for() -> None:
    up_then_down = jump(100, 1, height=2.0) + np.where(np.arange(400) < 300, 0.0, -6.0)
    fall = lead_lag(made(up_then_down), made(jump(200, 2)), directions=("down", "any"))
    rise = lead_lag(made(up_then_down), made(jump(200, 2)), directions=("up", "any"))
    assert fall.first is not None
    assert rise.first is not None
    assert fall.first.step == pytest.approx(3000.0, abs=50.0)
    assert rise.first.step == pytest.approx(1000.0, abs=50.0)


def test_only_the_steps_between_count() -> None:
    two = jump(100, 1) + np.where(np.arange(400) < 300, 0.0, -3.0)
    result = lead_lag(made(two), made(two), steps=(2000.0, 3990.0))
    assert result.first is not None
    assert result.first.step == pytest.approx(3000.0, abs=50.0)


def test_a_ramp_begins_where_its_staircase_begins() -> None:
    ramp = np.clip((np.arange(400) - 100) / 100.0, 0.0, 1.0) * 20.0 + 0.3 * white(400, 3)
    result = lead_lag(made(ramp), made(jump(300, 2)))
    assert result.first is not None
    assert result.first.step == pytest.approx(1150.0, abs=150.0)
