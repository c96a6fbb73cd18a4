"""target-kl-cuts-updates: recorded runs, and constructed ones for counters that no fixture has."""

from __future__ import annotations

import numpy as np

from rlclinic.model.finding import Severity
from rlclinic.rules.policy import target_kl_cuts_updates
from tests.rules.scene import POINTS, fault, recorded, rising, scene

CONFIG = {"n_epochs": 10, "n_steps": 128, "n_envs": 4, "batch_size": 64, "learning_rate": 3e-4, "clip_range": 0.2}


def test_a_target_that_every_update_exceeds_is_named() -> None:
    found = target_kl_cuts_updates.check(fault("tight_kl_ppo_cartpole"))
    assert found is not None
    assert found.severity is not Severity.INFO
    assert "target_kl is 1e-06" in found.summary


def test_a_common_target_is_fine_even_where_it_cuts() -> None:
    """constructed: a counter that shows a tenth of the updates."""
    made = {"updates": np.arange(POINTS, dtype=np.float64)}
    steps = POINTS * 512.0
    assert target_kl_cuts_updates.check(scene(series=made, config={**CONFIG, "target_kl": 0.02}, steps=steps)) is None
    assert (
        target_kl_cuts_updates.check(scene(series=made, config={**CONFIG, "target_kl": 1e-5}, steps=steps)) is not None
    )


def test_a_tiny_target_that_cuts_nothing_is_fine() -> None:
    """constructed: all updates were made."""
    made = {"updates": 10.0 * np.arange(POINTS)}
    facts = scene(series=made, config={**CONFIG, "target_kl": 1e-5}, steps=POINTS * 512.0)
    assert target_kl_cuts_updates.check(facts) is None
    assert target_kl_cuts_updates.check(recorded("sb3/ppo_cartpole")) is None


def test_one_pass_a_rollout_with_next_to_no_kl_tells_it_without_a_config() -> None:
    """constructed: a counter of passes; and the same with several of them, or with updates of the usual size."""
    one, several = np.arange(1.0, POINTS + 1), 5.0 * np.arange(1.0, POINTS + 1)
    small, usual = np.full(POINTS, 1e-4), np.full(POINTS, 0.01)

    def found(updates: np.ndarray, kl: np.ndarray) -> object:
        return target_kl_cuts_updates.check(
            scene(series={"updates": updates, "approx_kl": kl, "return/train": rising(20.0, 40.0)})
        )

    assert found(one, small) is not None
    assert found(several, small) is None
    assert found(one, usual) is None
