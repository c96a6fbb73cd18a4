"""Steady movement in one direction."""

from __future__ import annotations

import numpy as np

from rlclinic.signals.drift import drift

from .makers import white


def test_a_noisy_decline_is_a_drift_downwards() -> None:
    result = drift(np.linspace(5.0, 1.0, 300) + 0.2 * white(300))
    assert result.direction == -1.0
    assert result.share > 0.97


def test_swings_are_no_drift() -> None:
    assert drift(np.sin(np.arange(400) / 10.0)).share < 0.3


def test_a_fall_after_a_climb_is_half_a_drift() -> None:
    share = drift(np.concatenate((np.linspace(0, 1, 200), np.linspace(1, 0, 200)))).share
    assert 0.1 < share < 0.7
