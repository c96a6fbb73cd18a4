"""updates-spike. Constructed: rare huge batches need an environment that makes them."""

from __future__ import annotations

import numpy as np

from rlclinic.model.finding import Severity
from rlclinic.model.series import FloatArray
from rlclinic.rules.optimisation import updates_spike
from tests.rules.scene import FELL, flat, line, recorded, scene


def _with_spikes(height: float) -> FloatArray:
    norms = flat(1.0, noise=0.1)
    norms[[20, 35, 50]] += height
    return norms


def test_rare_huge_gradients_beside_a_fallen_return_are_named() -> None:
    found = updates_spike.check(scene(series={"grad_norm": _with_spikes(40.0), "return/train": FELL}))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "log/grad_norm has 3 spikes" in found.summary


def test_small_spikes_steady_growth_and_a_return_that_rises_are_fine() -> None:
    grown = np.geomspace(1.0, 100.0, FELL.size)
    assert updates_spike.check(scene(series={"grad_norm": _with_spikes(1.0), "return/train": FELL})) is None
    assert updates_spike.check(scene(series={"grad_norm": grown, "return/train": FELL})) is None
    assert updates_spike.check(scene(series={"grad_norm": _with_spikes(40.0), "return/train": line(20, 200)})) is None
    assert updates_spike.check(recorded("sb3/ppo_cartpole")) is None
