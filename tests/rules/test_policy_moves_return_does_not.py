"""policy-moves-return-does-not on recorded runs of CartPole."""

from __future__ import annotations

import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.convergence import policy_moves_return_does_not
from tests.rules.scene import fault, recorded


@pytest.mark.parametrize("name", ["deaf_ppo_cartpole", "noisy_obs_ppo_cartpole"])
def test_a_policy_that_changes_without_any_effect_is_named(name: str) -> None:
    found = policy_moves_return_does_not.check(fault(name))
    assert found is not None
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(
    "name", ["low_lr_ppo_cartpole", "high_lr_ppo_cartpole", "uniform_ppo_cartpole", "sparse_ppo_mountaincar"]
)
def test_a_policy_that_stands_still_jumps_or_sees_no_reward_is_another_matter(name: str) -> None:
    assert policy_moves_return_does_not.check(fault(name)) is None


def test_a_policy_that_learns_is_fine() -> None:
    assert policy_moves_return_does_not.check(recorded("sb3/ppo_cartpole")) is None
