"""Runs of Hugging Face's Trainer: what its state tells, and what it does not."""

from __future__ import annotations

import shutil
from pathlib import Path

from rlclinic.readers.open import read
from tests.conftest import RUNS

STATE = RUNS / "trl" / "grpo_tiny" / "checkpoint-40" / "trainer_state.json"


def test_the_state_of_a_trainer_is_no_config_so_nothing_is_known_to_be_a_default(tmp_path: Path) -> None:
    shutil.copy(STATE, tmp_path)
    told = read(tmp_path).config.settings
    assert told
    assert not any(setting.is_default for setting in told.values())
    (tmp_path / "grpo_config.yaml").write_text("learning_rate: 0.01\nnum_generations: 4\n", encoding="utf-8")
    assert read(tmp_path).config.settings["max_response_length"].is_default
