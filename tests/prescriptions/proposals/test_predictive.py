"""The interval of an effect on the next environment."""

from __future__ import annotations

import pytest

from rlclinic.prescriptions.proposals.predictive import predictive

ALIKE = {"A": (0.9, 4), "B": (0.92, 4), "C": (0.88, 4)}
APART = {"A": (0.1, 4), "B": (0.9, 4), "C": (0.5, 4)}


def test_environments_that_differ_make_a_wide_interval() -> None:
    narrow, wide = predictive(ALIKE), predictive(APART)
    assert narrow[1] - narrow[0] < 0.2 < 0.8 < wide[1] - wide[0]
    assert sum(narrow) / 2 == pytest.approx(0.9, abs=0.01)


def test_trials_on_the_very_environment_pull_the_interval_towards_them() -> None:
    assert sum(predictive(APART, "B")) > sum(predictive(APART)) > sum(predictive(APART, "A"))


def test_more_environments_make_it_narrower() -> None:
    more = {**APART, "D": (0.3, 4), "E": (0.7, 4), "F": (0.5, 4)}
    low, high = predictive(more)
    assert high - low < predictive(APART)[1] - predictive(APART)[0]
