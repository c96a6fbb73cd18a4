"""The mean over steps."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.signals.area import area

from .makers import made, sigmoid, white


def test_the_area_of_a_ramp_is_half() -> None:
    assert area(made(np.linspace(0.0, 1.0, 101))).mean == pytest.approx(0.5)


def test_dense_logging_of_one_part_does_not_weigh_it_more() -> None:
    steps = np.concatenate((np.linspace(0.0, 10.0, 1000), np.linspace(10.1, 100.0, 500)))
    assert area(made(np.where(steps <= 10.0, 0.0, 1.0), steps)).mean == pytest.approx(0.9, abs=0.01)


def test_a_faster_learner_has_a_larger_area() -> None:
    slow, fast = (area(sigmoid(300, at=at) + 0.05 * white(300)) for at in (0.7, 0.2))
    assert fast.mean > slow.mean + 0.3
    assert fast.mean == pytest.approx(0.8, abs=0.07)


def test_runs_of_different_length_are_compared_up_to_the_same_step() -> None:
    short, long = made(sigmoid(200, at=0.5)), made(np.concatenate((sigmoid(200, at=0.5), np.ones(300))))
    assert area(long, until=1990.0).mean == pytest.approx(area(short).mean)


def test_one_point_is_its_own_mean() -> None:
    assert area(made([4.0])).mean == 4.0
