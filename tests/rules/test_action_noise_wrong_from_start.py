"""action-noise-wrong-from-start on recorded runs of Pendulum."""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.rules.policy import action_noise_wrong_from_start
from tests.rules.scene import fault, flat, line, recorded, scene


def test_actions_that_were_narrow_from_the_start_are_named() -> None:
    found = action_noise_wrong_from_start.check(fault("narrow_std_ppo_pendulum"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "began at 0.018" in found.summary


def test_a_wide_std_that_training_brings_down_is_fine() -> None:
    assert action_noise_wrong_from_start.check(fault("wide_std_ppo_pendulum")) is None


def test_a_narrow_std_beside_a_rising_return_is_fine() -> None:
    """constructed: fine control that works."""
    series = {"action_std/mean": flat(0.02), "return/train": line(20, 200)}
    assert action_noise_wrong_from_start.check(scene(series=series)) is None
    assert action_noise_wrong_from_start.check(recorded("rsl_rl/cartpole")) is None
