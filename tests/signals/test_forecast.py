"""What becomes of a series if it goes on."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.forecast import forecast

from .makers import correlated, made, sigmoid, white


def test_a_straight_climb_reaches_what_lies_ahead_and_not_what_lies_beyond() -> None:
    series = made(np.linspace(0.0, 1.0, 200) + 0.05 * white(200))
    near, far = forecast(series, 1.4, 4000.0), forecast(series, 5.0, 4000.0)
    assert near.probability > 0.6
    assert far.probability < 0.1
    assert near.low < 2.0 < near.high + 0.1
    assert near.step == pytest.approx(2800.0, abs=400.0)
    assert near.step is not None
    assert near.step_low is not None
    assert near.step_high is not None
    assert near.step_low <= near.step <= near.step_high


def test_a_saturated_curve_does_not_reach_a_higher_threshold() -> None:
    series = made(1.0 - np.exp(-np.linspace(0.0, 8.0, 300)) + 0.02 * white(300))
    result = forecast(series, 1.5, 9000.0)
    assert result.probability < 0.1
    assert result.value == pytest.approx(1.0, abs=0.05)


def test_a_threshold_that_is_held_is_certain() -> None:
    result = forecast(made(sigmoid(200)), 0.5, 4000.0)
    assert result.probability == 1.0
    assert result.step == pytest.approx(800.0, abs=50.0)


def test_a_threshold_that_was_lost_again_is_not_certain() -> None:
    values = np.where(np.arange(300) < 150, sigmoid(300, at=0.2), 0.0) + 0.02 * white(300)
    assert forecast(made(values), 0.8, 4000.0).probability < 0.7


def test_nothing_is_surer_than_its_experience() -> None:
    assert forecast(made(0.01 * white(300)), 100.0, 6000.0).probability == pytest.approx(0.03)


def test_more_budget_never_makes_it_much_less_likely() -> None:
    series = made(np.linspace(0.0, 1.0, 200) + 0.1 * white(200))
    chances = [forecast(series, 1.5, budget).probability for budget in (2200.0, 3500.0, 6000.0)]
    assert chances == sorted(chances)


@pytest.mark.parametrize("phi", [0.0, 0.8])
def test_the_interval_covers_the_end_of_saturating_climbs(phi: float) -> None:
    rng = np.random.default_rng(71)
    hits = 0
    for noise in correlated(300, phi, seed=72, runs=60):
        truth = 1.0 - np.exp(-np.linspace(0.0, 1.0, 300) / rng.uniform(0.1, 1.0))
        result = forecast(made((truth + 0.2 * noise)[:180]), 2.0, 2990.0)
        hits += result.low <= truth[-1] <= result.high
    assert hits >= 51


def test_a_budget_that_is_over_leaves_the_present_level() -> None:
    result = forecast(made(np.full(50, 2.0) + 0.01 * white(50)), 3.0, 10.0)
    assert result.value == pytest.approx(2.0, abs=0.02)


def test_down_can_be_the_good_direction() -> None:
    series = made(1.0 - np.linspace(0.0, 1.0, 200) + 0.02 * white(200))
    assert forecast(series, -0.4, 4000.0, better="down").probability > 0.6
    assert forecast(series, -5.0, 4000.0, better="down").probability < 0.1
