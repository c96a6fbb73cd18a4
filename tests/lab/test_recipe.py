"""Recipes: frozen, checked, and the same after a round trip through config.json."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from rlclinic.lab.recipe import Recipe, Wrapper, recipe_of_config
from rlclinic.model.errors import UsageError

RECIPE = Recipe(
    "sb3",
    "PPO",
    "CartPole-v1",
    5000,
    {"learning_rate": 1e-3, "n_envs": 4, "n_steps": 64, "batch_size": 64},
    seed=3,
    env_kwargs={"sutton_barto_reward": True},
    wrappers=(Wrapper("some.module:Class", {"factor": 2}),),
    threshold=400.0,
)


def test_a_recipe_is_the_same_after_a_round_trip_through_json() -> None:
    assert recipe_of_config(json.loads(json.dumps(RECIPE.to_config()))) == RECIPE


def test_a_recipe_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(RECIPE)) == RECIPE  # noqa: S301 - our own bytes


def test_facts_of_the_environment_and_versions_are_not_hyperparameters() -> None:
    config = {**RECIPE.to_config(), "rlclinic_version": "1", "n_actions": 2, "observation_shape": [4]}
    assert recipe_of_config(config) == RECIPE


def test_changes_make_a_new_recipe_and_leave_the_old_one_alone() -> None:
    changed = RECIPE.with_changes({"learning_rate": 3e-4, "seed": 9, "n_envs": None, "eval_freq": 100})
    assert (changed.get("learning_rate"), changed.seed, changed.n_envs, changed.eval_every) == (3e-4, 9, 1, 100)
    assert (RECIPE.get("learning_rate"), RECIPE.seed, RECIPE.n_envs) == (1e-3, 3, 4)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"rollout_size": 512}, {"n_steps": 128, "batch_size": 64}),
        ({"n_minibatches": 2}, {"n_steps": 64, "batch_size": 128}),
        ({"rollout_size": 512, "n_minibatches": 4}, {"n_steps": 128, "batch_size": 128}),
    ],
)
def test_a_derived_change_replaces_the_basic_values(change: dict[str, object], expected: dict[str, object]) -> None:
    changed = RECIPE.with_changes(change)
    assert {name: changed.get(name) for name in expected} == expected
    assert not set(change) & set(changed.hyperparameters)


def test_known_wrappers_become_hyperparameters_and_others_stay() -> None:
    wrappers = ["normalise", {"id": "frame_stack", "n": 4}, {"id": "time_limit", "max_episode_steps": 99}, "my.mod:Cls"]
    changed = RECIPE.with_changes({"env_wrappers": wrappers})
    assert changed.wrappers == (Wrapper("my.mod:Cls"),)
    values = {"normalize_obs": True, "normalize_reward": True, "frame_stack": 4, "max_episode_steps": 99}
    assert {name: changed.get(name) for name in values} == values


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"total_steps": 0}, "total_steps = 0"),
        ({"total_steps": 2.5}, "total_steps = 2.5"),
        ({"seed": -1}, "seed = -1"),
        ({"eval_episodes": 0}, "eval_episodes = 0"),
        ({"threshold": "high"}, "threshold = 'high'"),
        ({"stop_at_threshold": "yes"}, "stop_at_threshold = 'yes'"),
        ({"env_wrappers": [3]}, "env_wrappers: 3"),
        ({"env_wrappers": ["frame_stack"]}, "frame_stack needs n"),
    ],
)
def test_a_value_that_is_none_is_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        RECIPE.with_changes(change)


def test_a_config_without_what_every_run_needs_is_refused() -> None:
    with pytest.raises(UsageError, match="lacks algorithm, env_id, framework, total_steps"):
        recipe_of_config({"learning_rate": 1})
