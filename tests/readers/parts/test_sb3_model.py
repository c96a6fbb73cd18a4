"""Learning rates that fall, as a model of Stable-Baselines3 records them."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

import pytest

from rlclinic.readers.open import read
from tests.conftest import RUNS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy(RUNS / "sb3" / "ppo_cartpole" / "progress.csv", tmp_path)
    return tmp_path


def _saved(folder: Path, rate: object) -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    sb3.PPO("MlpPolicy", "CartPole-v1", learning_rate=rate, n_steps=8, batch_size=8, device="cpu").save(
        folder / "best_model.zip"
    )


def test_a_linear_schedule_is_read_with_its_ends(folder: Path) -> None:
    utils = pytest.importorskip("stable_baselines3.common.utils")
    _saved(folder, utils.LinearSchedule(0.001, 0.0001, 1.0))
    config = read(folder).config
    names = ("learning_rate", "learning_rate_schedule", "learning_rate_final")
    assert [config.get(name) for name in names] == [0.001, "linear", 0.0001]
    assert not config.settings["learning_rate"].is_default


def test_a_plain_rate_has_no_schedule(folder: Path) -> None:
    _saved(folder, 0.002)
    config = read(folder).config
    assert config.get("learning_rate") == 0.002
    assert "learning_rate_schedule" not in config


def test_of_a_function_nothing_is_known(folder: Path) -> None:
    _saved(folder, lambda left: left * 0.001)
    config = read(folder).config
    assert "learning_rate" not in config
    assert "learning_rate_schedule" not in config
