"""What was reached and lost again."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.collapse import collapse

from .makers import correlated, made, sigmoid, white


@pytest.mark.parametrize("phi", [0.0, 0.9])
def test_the_peak_of_noise_is_no_loss(phi: float) -> None:
    alarms = sum(collapse(row).drop_low > 0.0 for row in correlated(500, phi, seed=41, runs=150))
    assert alarms / 150 <= 0.07


def test_a_fall_back_to_the_start_loses_everything() -> None:
    values = np.where(np.arange(300) < 220, sigmoid(300, at=0.2), 0.0) + 0.1 * white(300)
    result = collapse(made(values))
    assert result.drop == pytest.approx(1.0, abs=0.15)
    assert result.drop_low > 0.7


def test_a_climb_that_holds_loses_nothing_for_sure() -> None:
    result = collapse(sigmoid(300) + 0.1 * white(300))
    assert result.drop_low < 0.0
    assert result.drop < 0.1


def test_one_bad_last_evaluation_is_not_a_collapse() -> None:
    values = sigmoid(40) + 0.05 * white(40)
    values[-1] = 0.0
    assert collapse(values).drop_low < 0.3
