"""A framework's default is a setting of the run only as long as nothing in the run says otherwise."""

from __future__ import annotations

import shutil
from pathlib import Path

from rlclinic.readers.open import read
from tests.conftest import RUNS


def test_a_default_that_the_log_disproves_is_none_of_the_run(tmp_path: Path) -> None:
    shutil.copy(RUNS / "sb3" / "ppo_cartpole_high_lr" / "progress.csv", tmp_path)
    (tmp_path / "config.yaml").write_text("algorithm: PPO\nn_steps: 256\n", encoding="utf-8")
    settings = read(tmp_path).config.settings
    assert "learning_rate" not in settings
    assert settings["clip_range"].is_default


def test_a_kl_whose_weight_is_logged_is_in_the_reward(tmp_path: Path) -> None:
    """Before 0.4 verl had it there whenever it was no loss, and had no switch for it."""
    shutil.copy(RUNS / "verl" / "ppo_v0.1" / "train.log", tmp_path)
    (tmp_path / "config.yaml").write_text("actor_rollout_ref: {actor: {optim: {lr: 1.0e-6}}}\n", encoding="utf-8")
    switch = read(tmp_path).config.settings["use_kl_in_reward"]
    assert switch.value is True
    assert not switch.is_default
