"""observation-statistics-drift. Constructed: no fixture logs the spread of its observations."""

from __future__ import annotations

import numpy as np

from rlclinic.model.finding import Severity
from rlclinic.rules.environment import observation_statistics_drift
from tests.rules.scene import FELL, POINTS, flat, line, scene


def test_a_spread_that_runs_away_beside_a_fallen_return_is_named() -> None:
    series = {"observation/std": np.geomspace(1.0, 40.0, POINTS), "return/train": FELL}
    found = observation_statistics_drift.check(scene(series=series))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_normalised_observations_far_from_one_are_named() -> None:
    series = {"observation/std": flat(30.0), "return/train": flat(20.0)}
    assert observation_statistics_drift.check(scene(series=series, config={"normalize_obs": True})) is not None
    assert observation_statistics_drift.check(scene(series=series)) is None


def test_a_steady_spread_and_a_return_that_rises_are_fine() -> None:
    assert (
        observation_statistics_drift.check(scene(series={"observation/std": flat(1.0), "return/train": FELL})) is None
    )
    growing = {"observation/std": np.geomspace(1.0, 40.0, POINTS), "return/train": line(20, 200)}
    assert observation_statistics_drift.check(scene(series=growing)) is None
