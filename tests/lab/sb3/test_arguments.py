"""What the lab hands to Stable-Baselines3's constructors."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import gymnasium
import pytest

from rlclinic.lab.assemble import assemble
from rlclinic.lab.backend import backend_for
from rlclinic.lab.sb3.arguments import constructor_arguments
from rlclinic.model.errors import UsageError

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


def test_a_value_of_another_kind_is_refused_by_name() -> None:
    odd = (0, -1, 1e-300, "", "x", True, [], [0], {}, {"pi": [4]}, "lin_", math.nan, 10**400, [1, "step"])
    for algorithm, key in ((name, key) for name in ("PPO", "SAC") for key in backend_for("sb3").hyperparameters(name)):
        for value in odd:
            config = {
                "framework": "sb3",
                "algorithm": algorithm,
                "env_id": "CartPole-v1",
                "total_steps": 64,
                key: value,
            }
            with suppress(UsageError):
                assemble(config, own_words=[key])
