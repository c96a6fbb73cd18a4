"""The return per step of an episode."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.signals.return_on_length import return_on_length

from .makers import made, white

LENGTHS = np.random.default_rng(0).integers(10, 500, size=300).astype(float)


def test_a_reward_of_one_per_step_is_an_exact_line() -> None:
    result = return_on_length(LENGTHS, LENGTHS)
    assert result.slope == pytest.approx(1.0)
    assert result.explained == pytest.approx(1.0)


def test_a_cost_per_step_and_a_prize_are_told_apart() -> None:
    result = return_on_length(100.0 - 0.5 * LENGTHS + white(300), LENGTHS)
    assert result.slope == pytest.approx(-0.5, abs=0.01)


def test_returns_that_do_not_depend_on_length_have_no_slope() -> None:
    result = return_on_length(white(300), LENGTHS)
    assert result.explained < 0.1


def test_series_are_paired_by_step() -> None:
    returns = made(2.0 * LENGTHS[::3], np.arange(0, 300, 3))
    lengths = made(LENGTHS, np.arange(300))
    result = return_on_length(returns, lengths)
    assert result.n == 100
    assert result.slope == pytest.approx(2.0)


def test_pairs_with_a_missing_half_are_left_out() -> None:
    returns = LENGTHS.copy()
    returns[::2] = math.nan
    assert return_on_length(returns, LENGTHS).n == 150


def test_episodes_of_one_length_say_nothing() -> None:
    assert not return_on_length(white(50), np.full(50, 200.0)).enough


def test_a_few_wild_returns_do_not_bend_the_line() -> None:
    returns = LENGTHS + white(300)
    returns[::10] = 1e5
    assert return_on_length(returns, LENGTHS).slope == pytest.approx(1.0, abs=0.1)
