"""A metric of one run against that of another."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.comparison.baseline import against_baseline
from rlclinic.model.series import Series


def flat(level: float, points: int = 20, name: str = "return/train") -> Series:
    return Series(name, name, 100.0 * np.arange(points), np.full(points, level))


@pytest.mark.parametrize(
    ("name", "here", "there", "status"),
    [
        ("return/train", 20.0, 10.0, "better"),
        ("return/train", 10.0, 20.0, "worse"),
        ("return/train", 20.0, 20.001, "equal"),
        ("learning_rate", 2.0, 1.0, "different"),
        ("return/train", math.nan, 1.0, "unknown"),
    ],
)
def test_the_status_follows_the_side_on_which_a_metric_is_better(
    name: str, here: float, there: float, status: str
) -> None:
    assert against_baseline(flat(here, name=name), flat(there, name=name)).status == status


def test_runs_of_different_length_are_compared_where_the_shorter_ends() -> None:
    steps = 100.0 * np.arange(20)
    found = against_baseline(Series("return/train", "r", steps, steps), flat(5.0, 10))
    assert found.at_equal_steps == (900.0, 900.0, 5.0)
    assert found.difference == 1845.0, "the ends are means of the last tenth"
