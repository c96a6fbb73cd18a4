"""Examinations of tests are smaller than those of users."""

from __future__ import annotations

import pytest

from rlclinic.environment import effects, measure, panel
from rlclinic.facts.environment import regression


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twentieth of the work; enough for tiny tasks."""
    for module, name, value in (
        (measure, "FEWEST_STEPS", 900), (measure, "MOST_STEPS", 1200), (measure, "EPISODES_WANTED", 30),
        (measure, "NOISE_STATES", 10), (measure, "STATES", 7), (panel, "LINEAR", 3), (panel, "EPISODES", 2),
        (panel, "HOLDS", (5,)), (effects, "HORIZON", 8), (regression, "MOST_ROWS", 600), (regression, "FEATURES", 40),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
