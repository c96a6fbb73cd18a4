"""Rules about the config: what cannot work, what was dropped, what is far from what works."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.config import Origin, Setting
from rlclinic.model.finding import Severity
from rlclinic.model.run import Status
from rlclinic.readers.open import read
from rlclinic.rules.config import (
    far_from_reference,
    images_without_cnn,
    invalid_combination,
    learning_rate_zero,
    text_for_number,
    unknown_key,
    value_differs_from_file,
)
from tests.rules.scene import line, recorded, scene

FLAT = {"return/train": line(20.0, 20.0)}
RISING = {"return/train": line(20.0, 200.0)}


def test_a_learning_rate_far_from_working_ones_is_noted() -> None:
    found = far_from_reference.check(recorded("faults/high_lr_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.INFO
    assert "learning_rate 0.1" in found.summary
    assert found.evidence[0].value > 2


def test_values_of_the_reference_itself_are_not_noted() -> None:
    assert far_from_reference.check(recorded("zoo/old_encoding")) is None


def test_at_most_five_values_are_listed() -> None:
    """constructed: nobody sets eight values that far off."""
    config = {
        "learning_rate": 0.5,
        "gamma": 0.2,
        "clip_range": 5.0,
        "vf_coef": 50.0,
        "max_grad_norm": 100.0,
        "n_epochs": 300,
        "ent_coef": 1000.0,
        "gae_lambda": 1.0,
    }
    found = far_from_reference.check(scene(config=config))
    assert found is not None
    assert len(found.evidence) == 5
    assert "and 3 more" in found.summary


def test_large_batches_of_many_environments_are_usual() -> None:
    """constructed: simulators on a graphics card."""
    config = {"n_envs": 4096, "n_steps": 24, "batch_size": 24576, "learning_rate": 1e-3}
    assert far_from_reference.check(scene(config=config)) is None


def test_a_batch_that_does_not_divide_the_rollout_is_an_error_where_it_is_refused() -> None:
    found = invalid_combination.check(recorded("gymnasium_solver/runs/local-20260115-102500"))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "batch_size 100 does not divide the rollout of 256" in found.summary


def test_the_same_batch_is_fine_where_it_is_accepted() -> None:
    """constructed: Stable-Baselines3 takes a truncated last minibatch."""
    config = {"n_envs": 8, "n_steps": 32, "batch_size": 100}
    assert invalid_combination.check(scene(series=FLAT, config=config)) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("gamma", 1.2), ("gamma", -0.1), ("learning_rate", -1e-3), ("clip_range", 0.0), ("n_steps", 0), ("tau", 2.0)],
)
def test_a_value_outside_its_range_is_an_error(name: str, value: float) -> None:
    """constructed: recorded frameworks refuse such values before they write anything."""
    found = invalid_combination.check(scene(series=FLAT, config={name: value}))
    assert found is not None
    assert found.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("name", "value"),
    [("gamma", 1.0), ("gae_lambda", 0.0), ("gradient_steps", -1), ("learning_starts", 0), ("tau", 1.0)],
)
def test_values_at_the_edge_of_their_range_are_valid(name: str, value: float) -> None:
    """constructed: the edges of the ranges."""
    assert invalid_combination.check(scene(series=FLAT, config={name: value})) is None


def test_what_trained_and_improved_was_valid() -> None:
    """constructed: a key with another meaning in some framework."""
    assert invalid_combination.check(scene(series=RISING, config={"gamma": 1.2})) is None


def _solver(tmp_path: Path, **changes: object) -> RunFacts:
    """A recorded gymnasium-solver run with another config."""
    source = Path(recorded("gymnasium_solver/runs/local-20260115-103000").run.path)
    config = {**json.loads((source / "config.json").read_text()), **changes}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "metrics.csv").write_text((source / "metrics.csv").read_text())
    return RunFacts(read(tmp_path))


def test_a_key_that_the_framework_drops_is_an_alarm(tmp_path: Path) -> None:
    found = unknown_key.check(_solver(tmp_path, learning_rate=2.5e-4))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "learning_rate = 0.00025 (its own key is policy_lr)" in found.summary


def test_keys_for_other_tools_are_left_alone(tmp_path: Path) -> None:
    assert unknown_key.check(_solver(tmp_path, wandb_group="sweep 7", my_note="x")) is None


def test_unknown_keys_of_other_frameworks_are_not_judged() -> None:
    """constructed: a framework that raises on unknown keys."""
    assert unknown_key.check(scene(framework="sb3", config={"policy_lr": 0.1})) is None


def test_a_learning_rate_in_scientific_notation_that_stayed_text_is_an_error(tmp_path: Path) -> None:
    facts = _solver(tmp_path, policy_lr="1e-3")
    (tmp_path / "metrics.csv").write_text((tmp_path / "metrics.csv").read_text().split("\n", 1)[0] + "\n")
    found = text_for_number.check(RunFacts(read(tmp_path)))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "policy_lr = '1e-3'" in found.summary
    assert text_for_number.check(facts) is None  # it trained and improved, so something converted the text


def test_text_that_is_no_number_is_left_alone() -> None:
    """constructed: schedules and words are legal values."""
    config = {"learning_rate": "lin_0.001", "ent_coef": "auto", "gamma": "0.99"}
    found = text_for_number.check(scene(config=config, status=Status.CRASHED))
    assert found is not None
    assert [item.metric for item in found.evidence] == ["gamma"]


def test_images_in_a_plain_network_are_an_alarm() -> None:
    """constructed: a run on images that does not learn, and a CNN."""
    config = {"observation_shape": [84, 84, 4], "policy_class": "MlpPolicy"}
    found = images_without_cnn.check(scene(series=FLAT, config=config))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "28224 numbers" in found.summary


def test_images_with_a_convolution_and_small_grids_are_fine() -> None:
    """constructed: a run on images that does not learn, and a CNN."""
    image = {"observation_shape": [84, 84, 4], "policy_class": "CnnPolicy"}
    grid = {"observation_shape": [7, 7, 3], "policy_class": "MlpPolicy"}
    assert images_without_cnn.check(scene(series=FLAT, config=image)) is None
    assert images_without_cnn.check(scene(series=FLAT, config=grid)) is None


def test_atari_from_single_frames_is_an_alarm_and_from_four_is_not() -> None:
    """constructed: no recorded run plays Atari."""
    single = scene(environment="PongNoFrameskip-v4", series=FLAT, config={"frame_stack": 1})
    stacked = scene(environment="PongNoFrameskip-v4", series=FLAT, config={"frame_stack": 4})
    found = images_without_cnn.check(single)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert images_without_cnn.check(stacked) is None


@pytest.mark.parametrize("name", ["learning_rate", "n_epochs", "gradient_steps"])
def test_a_rate_or_count_of_zero_is_an_error(name: str) -> None:
    """constructed: the ways to train nothing that zero_rate_ppo_cartpole is not."""
    found = learning_rate_zero.check(scene(series=FLAT, config={name: 0}))
    assert found is not None
    assert found.severity is Severity.ERROR


def test_a_logged_rate_of_exactly_zero_is_an_error_and_a_rounded_one_is_not() -> None:
    """constructed: the ways to train nothing that zero_rate_ppo_cartpole is not."""
    curves = {**FLAT, "learning_rate": np.zeros(20)}
    found = learning_rate_zero.check(scene(series=curves))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert learning_rate_zero.check(scene(series=curves, details={"learning_rate": {"decimals": 3}})) is None


def test_a_schedule_that_ends_at_zero_is_fine() -> None:
    facts = recorded("trl/console_v0.17")
    assert facts.run["learning_rate"].values[-1] == 0.0
    assert learning_rate_zero.check(facts) is None


def _setting(key: str, value: object, file: str) -> Setting:
    return Setting(key, value, key, Origin(file, 3))


def test_files_that_disagree_on_a_value_are_noted() -> None:
    """constructed: no recorded run has files that disagree."""
    native = {
        "n_envs": _setting("n_envs", 8, "config.yml"),
        "clip_range": _setting("clip_range", 0.2, "config.yml"),
        "clip_range_initialvalue": _setting("clip_range_initialvalue", 0.4, "args.yml"),
    }
    found = value_differs_from_file.check(scene(framework="sb3-zoo", native=native))
    assert found is not None
    assert found.severity is Severity.INFO
    assert "clip_range = 0.2 in config.yml:3" in found.summary


def test_files_that_agree_are_not_noted() -> None:
    """constructed: the same keys with one value."""
    native = {
        "clip_range": _setting("clip_range", 0.2, "config.yml"),
        "clip_range_initialvalue": _setting("clip_range_initialvalue", 0.2, "args.yml"),
    }
    assert value_differs_from_file.check(scene(framework="sb3-zoo", native=native)) is None
