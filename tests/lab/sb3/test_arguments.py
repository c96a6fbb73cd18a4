"""What the lab hands to Stable-Baselines3's constructors."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from rlclinic.lab.assemble import assemble
from rlclinic.lab.sb3.arguments import constructor_arguments

ACTIONS = gymnasium.spaces.Discrete(2)


@pytest.mark.parametrize(("optimizer", "kept"), [("Adam", {"eps": 1e-5}), ("AdamW", {"eps": 1e-5}), ("SGD", None)])
def test_other_optimisers_get_no_arguments_of_adam(optimizer: str, kept: dict[str, float] | None) -> None:
    config: dict[str, Any] = {
        "env_id": "CartPole-v1",
        "algorithm": "PPO",
        "framework": "sb3",
        "total_steps": 256,
        "optimizer": optimizer,
        "adam_epsilon": 1e-5,
    }
    recipe = assemble(config, own_words=set(config)).recipe
    policy = constructor_arguments(recipe, ACTIONS)["policy_kwargs"]
    assert policy["optimizer_class"].__name__ == optimizer
    assert policy.get("optimizer_kwargs") == kept
