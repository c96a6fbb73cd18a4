"""The table of symptoms: a run that was trained in an examined environment is told where to look first."""

from __future__ import annotations

import numpy as np

from rlclinic.engine import diagnose
from tests.rules.scene import line, scene

CHANCE = {
    "name": "random", "episodes": 100, "mean": -80.0, "low": -90.0, "high": -70.0, "std": 9.0, "length": 50.0,
    "best": -1.0,
}  # fmt: skip


def _first(measured: dict[str, object], level: float) -> str:
    curves = {"return/train": line(level, level), "entropy": np.full(60, 1.0)}
    return diagnose(scene(environment="Point", series=curves, measured=measured).run).decision_path[0]


def test_a_policy_that_earns_what_chance_earns_begins_with_the_environment() -> None:
    told = _first({"panel": [CHANCE]}, -80.0)
    assert told.startswith("Symptom: the trained policy earns what random actions earn.")
    assert "found nothing" in told


def test_a_flat_return_begins_with_what_pays() -> None:
    told = _first({"panel": [], "reward": {"at_end": 1.0}}, 20.0)
    assert told.startswith("Symptom: the return is flat from the first step on.")
    assert "Begin here" in told
    assert "ENV54" in told


def test_without_an_examination_there_is_no_symptom() -> None:
    facts = scene(environment="Point", series={"return/train": line(20.0, 20.0)})
    assert not diagnose(facts.run).decision_path[0].startswith("Symptom")
