"""Which of two series moved first."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.series import FloatArray
from rlclinic.signals._onset import onset
from rlclinic.signals.lead_lag import lead_lag

from .makers import made, white


def jump(at: int, seed: int, height: float = -3.0) -> FloatArray:
    """A jump in noise."""
    return np.where(np.arange(400) < at, 0.0, height) + 0.5 * white(400, seed)


@pytest.mark.parametrize("lag", [30, 100, -60])
def test_the_one_that_jumps_earlier_leads(lag: int) -> None:
    result = lead_lag(made(jump(200, 1)), made(jump(200 + lag, 2, height=50.0)))
    assert result.lag == pytest.approx(10.0 * lag, abs=60.0)
    assert (result.probability > 0.95) == (lag > 0)
    assert (result.probability < 0.05) == (lag < 0)


def test_a_jump_at_the_same_time_has_no_leader() -> None:
    result = lead_lag(made(jump(200, 1)), made(jump(200, 2)))
    assert 0.02 < result.probability < 0.98


def test_without_a_jump_in_both_there_is_no_order() -> None:
    assert not lead_lag(made(jump(200, 1)), made(white(400, 5))).enough


def test_the_delay_of_a_running_mean_is_taken_off() -> None:
    late = onset(made(jump(230, 1)), delay=500.0)
    assert late is not None
    assert late.step == pytest.approx(1800.0, abs=60.0)


def test_a_direction_can_be_asked_for() -> None:
    up_then_down = made(jump(100, 1, height=2.0) + np.where(np.arange(400) < 300, 0.0, -6.0))
    fall, rise = onset(up_then_down, "down"), onset(up_then_down, "up")
    assert fall is not None
    assert rise is not None
    assert fall.step == pytest.approx(3000.0, abs=50.0)
    assert rise.step == pytest.approx(1000.0, abs=50.0)


def test_only_the_steps_between_count() -> None:
    two = jump(100, 1) + np.where(np.arange(400) < 300, 0.0, -3.0)
    found = onset(made(two), steps=(2000.0, 3990.0))
    assert found is not None
    assert found.step == pytest.approx(3000.0, abs=50.0)


def test_a_ramp_begins_where_its_staircase_begins() -> None:
    found = onset(made(np.clip((np.arange(400) - 100) / 100.0, 0.0, 1.0) * 20.0 + 0.3 * white(400, 3)))
    assert found is not None
    assert found.step == pytest.approx(1150.0, abs=150.0)
