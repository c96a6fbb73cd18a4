"""returns-tiny-for-critic on recorded runs, and constructed ones."""

from __future__ import annotations

import numpy as np
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


@pytest.mark.parametrize(("largest", "is_noise"), [(2e-4, True), (0.1, False)])
def test_targets_that_spread_by_more_than_any_return_are_the_noise_of_the_critic(
    largest: float, *, is_noise: bool
) -> None:
    """constructed: targets of 0.003 that the critic begins to explain, and returns that never grow."""
    curve = np.tile([0.5 * largest, largest], 30)
    series = {"explained_variance": flat(0.1), "value_loss": flat(1e-5), "return/train": curve}
    found = returns_tiny_for_critic.check(scene(series=series, budget=100_000))
    assert (found is not None) is is_noise
    assert found is None or "no return is larger than 0.0002" in found.summary
