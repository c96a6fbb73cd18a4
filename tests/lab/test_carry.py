"""Runs of other frameworks as recipes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rlclinic import read
from rlclinic.lab.carry import carry, recipe_of_run
from rlclinic.lab.folder import open_folder
from rlclinic.model.errors import UsageError


def test_a_run_of_the_lab_gives_back_its_own_recipe(trained: Callable[[str], Path]) -> None:
    path = trained("PPO")
    assert recipe_of_run(read(path)).to_config() == open_folder(path).recipe().to_config()


def test_a_cleanrl_run_is_carried_over_with_its_own_way_of_saying_things(runs: Path) -> None:
    found = carry(read(runs / "cleanrl" / "ppo_cartpole"))
    recipe = found.recipe
    assert (recipe.framework, recipe.algorithm, recipe.environment) == ("sb3", "PPO", "CartPole-v1")
    expected = {"n_envs": 4, "n_steps": 128, "batch_size": 128, "learning_rate": 1e-3, "clip_range_vf": 0.2}
    assert {name: recipe.get(name) for name in expected} == expected
    assert recipe.get("learning_rate_schedule") == "linear"
    assert found.left_out == ()


def test_what_cannot_be_carried_over_is_said(runs: Path) -> None:
    found = carry(read(runs / "rllib" / "ppo_cartpole"))
    assert found.recipe.get("net_arch") == [32, 32]
    assert any(sentence.startswith("kl_coef = 0.2 (KL penalty)") for sentence in found.left_out)
    assert any("n_steps = 'auto'" in sentence for sentence in found.left_out)


def test_a_run_without_a_config_says_that_defaults_are_used(runs: Path) -> None:
    found = carry(read(runs / "sb3" / "sac_pendulum"))
    assert found.recipe.environment == "Pendulum-v1"
    assert found.left_out == ("the run records no hyperparameters: the defaults of sb3 are used",)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"algorithm": "DREAMER"}, "no trainer for the algorithm 'DREAMER'"), ({"environment": ""}, "its environment")],
)
def test_a_run_that_cannot_be_trained_again_is_refused(runs: Path, change: dict[str, str], words: str) -> None:
    run = replace(read(runs / "sb3" / "sac_pendulum"), **change)
    with pytest.raises(UsageError, match=words):
        carry(run)


def test_a_learning_rate_that_only_the_log_tells_is_carried_over(runs: Path) -> None:
    run = read(runs / "sb3" / "ppo_cartpole_high_lr")
    assert "learning_rate" not in run.config.settings
    assert recipe_of_run(run).get("learning_rate") == pytest.approx(0.05)
