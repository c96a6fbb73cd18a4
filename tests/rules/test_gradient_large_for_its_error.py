"""gradient-large-for-its-error on recorded runs."""

from __future__ import annotations

import pytest

from rlclinic.rules.optimisation import gradient_large_for_its_error
from tests.rules.scene import fault, recorded


def test_observations_of_huge_scale_show_in_the_gradient() -> None:
    found = gradient_large_for_its_error.check(fault("scaled_obs_ppo_cartpole"))
    assert found is not None
    assert "times the error (1 to 20 is common)" in found.summary


@pytest.mark.parametrize("name", ["large_reward_ppo_cartpole", "small_reward_ppo_cartpole", "narrow_std_ppo_pendulum"])
def test_the_scale_of_rewards_leaves_the_ratio_alone(name: str) -> None:
    assert gradient_large_for_its_error.check(fault(name)) is None


@pytest.mark.parametrize("name", ["faults/healthy_ppo_acrobot", "sb3/ppo_cartpole"])
def test_ordinary_gradients_are_fine(name: str) -> None:
    assert gradient_large_for_its_error.check(recorded(name)) is None
