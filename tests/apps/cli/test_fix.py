"""`rlclinic fix` as a user meets it, on recorded runs."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlclinic.apps.cli.fix import fix
from rlclinic.engine import diagnose
from rlclinic.model.errors import NothingReadable, RlclinicError, RunReadError, UsageError
from rlclinic.model.prescription import PrescriptionKind, Safety
from rlclinic.readers.open import read


def _fix(*arguments: str) -> Result:
    return CliRunner().invoke(fix, list(arguments))


def _error(*arguments: str) -> RlclinicError:
    error = _fix(*arguments).exception
    assert isinstance(error, RlclinicError)
    return error


@pytest.fixture
def broken(runs: Path, tmp_path: Path) -> Path:
    """A run whose learning rate is far too high, with the config it was made from beside its logs."""
    return Path(shutil.copytree(runs / "faults" / "high_lr_ppo_cartpole", tmp_path / "run"))


def test_the_change_is_shown_and_nothing_is_written(broken: Path) -> None:
    before = (broken / "config.yaml").read_bytes()
    result = _fix(str(broken))
    assert result.exit_code == 0
    assert "\n-learning_rate: 0.1\n+learning_rate: 0.0" in result.stdout
    assert "Not written yet" in result.stdout
    assert (broken / "config.yaml").read_bytes() == before


def test_write_changes_the_one_line_and_keeps_the_old_file(broken: Path) -> None:
    before = (broken / "config.yaml").read_text()
    result = _fix(str(broken), "--write", "--json")
    data = json.loads(result.stdout)
    after = data["prescription"]["changes"][0]["to"]
    assert (result.exit_code, data["schema"], data["written"]) == (0, "rlclinic.fix/1", True)
    assert (broken / "config.yaml").read_text() == before.replace("learning_rate: 0.1", f"learning_rate: {after}")
    assert Path(data["backup"]).read_text() == before
    assert read(broken).config.number("learning_rate") == after


def test_the_change_is_told_and_made_under_the_key_of_the_users_file(broken: Path) -> None:
    config = broken / "config.yaml"
    config.write_text(config.read_text().replace("learning_rate: 0.1", "lr: 0.1"))
    (change,) = [line for line in diagnose(read(broken)).answer.lines if line.label == "Change"]
    told = re.fullmatch(r"Lower lr from 0.1 to (\S+) in config.yaml:8\.", change.text)
    assert told is not None, change.text
    assert f"\n-lr: 0.1\n+lr: {told[1]}\n" in _fix(str(broken)).stdout


def test_a_told_goal_is_what_the_run_is_fixed_for(broken: Path) -> None:
    assert _fix(str(broken), "--goal", "20").exit_code == 0
    assert "Nothing to fix" in _fix(str(broken), "--goal", "5").stdout
    assert "goal" in _error(str(broken), "--goal", "nan").message


def test_a_healthy_run_has_nothing_to_fix(runs: Path) -> None:
    run = read(runs / "faults" / "solved_ppo_cartpole")
    assert not [item for item in diagnose(run).prescriptions if item.kind is PrescriptionKind.CONFIG]
    result = _fix(str(runs / "faults" / "solved_ppo_cartpole"), "--write")
    assert result.exit_code == 0
    assert "Nothing to fix" in result.stdout


def test_a_run_without_its_config_file_gets_the_change_as_text(broken: Path, tmp_path: Path) -> None:
    # The record of a gymnasium-solver run stands in for a config whose source is elsewhere.
    config = broken / "config.yaml"
    elsewhere = tmp_path / "train.py"
    elsewhere.write_text("model = PPO('MlpPolicy', env, learning_rate=1e-1, n_steps=128)\n")
    assert _fix(str(broken), "--config", str(elsewhere), "--write").exit_code == 0
    assert "learning_rate=1e-1" not in elsewhere.read_text()
    elsewhere.write_text("model = PPO('MlpPolicy', env, learning_rate=0.5)\n")
    result = _fix(str(broken), "--config", str(elsewhere), "--write", "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["written"], data["native"]["format"]) == (2, False, "sb3-python")
    assert "the run had 0.1" in data["reason"]
    assert elsewhere.read_text() == "model = PPO('MlpPolicy', env, learning_rate=0.5)\n"
    assert config.read_text().count("learning_rate: 0.1") == 1


def test_a_record_is_not_edited_and_the_flags_are_printed(runs: Path) -> None:
    crashed = str(runs / "gymnasium_solver" / "runs" / "local-20260115-102500")
    result = _fix(crashed)
    assert result.exit_code == 0
    assert "No file was edited" in result.stdout
    assert "  --override batch_size=" in result.stdout
    assert _fix(crashed, "--write").exit_code == 2


def test_numbers_that_name_no_config_change_are_usage_errors(broken: Path) -> None:
    assert isinstance(_error(str(broken), "--prescription", "99"), UsageError)
    prescriptions = diagnose(read(broken)).prescriptions
    by_hand = [index for index, item in enumerate(prescriptions, 1) if item.kind is not PrescriptionKind.CONFIG]
    for index in by_hand:
        assert _error(str(broken), "--prescription", str(index)).exit_code == 2


def test_what_is_unsafe_is_shown_and_written_only_on_request(runs: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(runs / "faults" / "epsilon_one_dqn_cartpole", tmp_path / "run"))
    assert diagnose(read(run)).prescriptions[0].safety is Safety.UNSAFE
    before = (run / "config.yaml").read_text()
    shown = _fix(str(run))
    assert shown.exit_code == 0
    assert "+exploration_final_eps: 0.04" in shown.stdout
    assert "Not written: it is unsafe: " in shown.stdout
    assert "  write it all the same with --unsafe\n" in shown.stdout
    assert _fix(str(run), "--write").exit_code == 2
    assert (run / "config.yaml").read_text() == before
    assert _fix(str(run), "--write", "--unsafe").exit_code == 0
    assert "exploration_final_eps: 0.04" in (run / "config.yaml").read_text()


def test_what_waits_for_something_by_hand_is_written_only_by_its_number(runs: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(runs / "faults" / "nan_reward_dqn_cartpole", tmp_path / "run"))
    first, second = diagnose(read(run)).prescriptions[:2]
    assert (first.kind, second.kind) == (PrescriptionKind.CHECK, PrescriptionKind.CONFIG)
    before = (run / "config.yaml").read_text()
    refused = _fix(str(run), "--write", "--json")
    data = json.loads(refused.stdout)
    assert (refused.exit_code, data["written"], data["first"]) == (2, False, [first.instruction])
    assert (data["reason"], data["hint"]) == (
        "something else comes first", "write it all the same with --prescription 2",
    )  # fmt: skip
    assert data["diff"]
    assert (run / "config.yaml").read_text() == before
    assert "First, by hand:\n  - " in _fix(str(run)).stdout
    assert _fix(str(run), "--write", "--prescription", "2").exit_code == 0
    assert (run / "config.yaml").read_text() != before


def test_what_cannot_be_read_has_the_exit_codes_of_every_verb(runs: Path, tmp_path: Path) -> None:
    assert isinstance(_error(str(runs / "edge" / "aborted_start")), NothingReadable)
    assert isinstance(_error(str(tmp_path / "nowhere")), RunReadError)


def test_a_run_without_a_path_is_no_run_to_fix(broken: Path) -> None:
    assert isinstance(_error(""), UsageError)
    told = diagnose(broken).commands
    assert told.apply.startswith("rlclinic fix")
    without = diagnose(replace(read(broken), path="")).commands
    assert (without.apply, without.prove) == ("", "")
    assert "''" not in without.test
