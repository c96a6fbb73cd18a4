"""returns-tiny-for-critic on recorded runs, and constructed ones."""

from __future__ import annotations

import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.value import returns_tiny_for_critic
from tests.rules.scene import fault, flat, line, recorded, scene


def test_returns_below_the_starting_noise_of_the_critic_are_named() -> None:
    found = returns_tiny_for_critic.check(fault("small_reward_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize("name", ["zero_reward_ppo_cartpole", "large_reward_ppo_cartpole", "sparse_ppo_mountaincar"])
def test_equal_or_large_returns_are_another_matter(name: str) -> None:
    assert returns_tiny_for_critic.check(fault(name)) is None


def test_small_returns_that_the_critic_grasps_at_once_are_fine() -> None:
    """constructed: targets of 0.003 with a critic that starts at zero."""
    series = {"explained_variance": line(0.1, 0.9), "value_loss": flat(1e-5), "return/train": line(0.001, 0.01)}
    assert returns_tiny_for_critic.check(scene(series=series)) is None
    assert returns_tiny_for_critic.check(recorded("sb3/ppo_cartpole")) is None
