"""The command line as a user meets it: output, exit codes, errors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def rlclinic(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "rlclinic", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )


def test_without_arguments_it_says_what_to_do_next() -> None:
    result = rlclinic()
    assert result.returncode == 0
    assert "rlclinic show PATH" in result.stdout
    assert "rlclinic runs FOLDER" in result.stdout


def test_options_of_a_diagnosis_after_a_folder_that_is_called_like_a_verb_mean_the_folder(
    runs: Path, tmp_path: Path
) -> None:
    shutil.copytree(runs / "sb3" / "ppo_cartpole", tmp_path / "runs" / "ppo")
    assert rlclinic("runs", "--fail-on", "never", cwd=tmp_path).stdout.startswith("ppo  SOLVED")
    assert json.loads(rlclinic("runs", "--json", cwd=tmp_path).stdout)["schema"] == "rlclinic.runs/1"
    assert rlclinic("runs", "--nonsense", cwd=tmp_path).returncode == 2


def test_the_version_is_printed() -> None:
    assert rlclinic("--version").stdout.startswith("rlclinic 0.")


@pytest.mark.parametrize("verb", ["show", "runs"])
def test_every_verb_has_help(verb: str) -> None:
    result = rlclinic(verb, "--help")
    assert result.returncode == 0
    assert "--json" in result.stdout


def test_show_prints_what_was_read(runs: Path) -> None:
    result = rlclinic("show", str(runs / "sb3" / "ppo_cartpole"))
    assert result.returncode == 0
    for words in ("algorithm    PPO", "environment  CartPole-v1", "return/train", "rollout/ep_rew_mean", "not logged:"):
        assert words in result.stdout
    assert "\x1b" not in result.stdout


def test_show_json_is_the_contract(runs: Path) -> None:
    result = rlclinic("show", str(runs / "sb3" / "ppo_cartpole"), "--json")
    data = json.loads(result.stdout)
    assert data["schema"] == "rlclinic.show/1"
    assert set(data) >= {"run", "metrics", "config", "provenance", "unknown_metrics"}
    assert data["run"]["framework"] == "sb3"
    assert data["run"]["step_axis"] == "env_steps"
    assert data["config"]["learning_rate"]["file"] == "best_model.zip"


def test_a_missing_path_is_exit_code_2_and_says_what_to_do() -> None:
    result = rlclinic("show", "no/such/run")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("rlclinic: no/such/run: no such file or folder")
    assert "Traceback" not in result.stderr


def test_an_empty_folder_is_exit_code_5(tmp_path: Path) -> None:
    result = rlclinic("show", str(tmp_path))
    assert result.returncode == 5
    assert "nothing in this folder is a run" in result.stderr


def test_errors_are_json_when_json_is_asked_for(tmp_path: Path) -> None:
    missing = rlclinic("show", "no/such/run", "--json")
    assert missing.returncode == 2
    assert json.loads(missing.stdout)["error"]["kind"] == "unreadable"
    empty = rlclinic("show", str(tmp_path), "--json")
    assert empty.returncode == 5
    assert json.loads(empty.stdout)["schema"] == "rlclinic.error/1"


def test_runs_lists_sorts_and_filters(runs: Path) -> None:
    result = rlclinic("runs", str(runs / "sb3"), "--json", "--algorithm", "ppo", "--sort", "best", "--reverse")
    rows = json.loads(result.stdout)["runs"]
    best = [row["return"]["best"] for row in rows if row["return"]["best"] is not None]
    assert result.returncode == 0
    assert {row["algorithm"] for row in rows} == {"PPO"}
    assert best == sorted(best, reverse=True)


def test_runs_of_an_empty_folder_is_exit_code_5(tmp_path: Path) -> None:
    result = rlclinic("runs", str(tmp_path))
    assert result.returncode == 5
    assert "no run found below this folder" in result.stderr


def test_files_that_lie_apart_are_one_run(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "curve.csv").write_text("my_step,my_score\n1,10\n2,20\n3,30\n")
    (tmp_path / "a" / "train.log").write_text('Traceback (most recent call last):\n  File "x"\nValueError: boom\n')
    (tmp_path / "a" / "setup.yaml").write_text("learning_rate: 0.01\ngamma: 0.9\n")
    result = rlclinic(
        "show", "--json",
        "--metrics", str(tmp_path / "curve.csv"), "--log", str(tmp_path / "a" / "train.log"),
        "--config", str(tmp_path / "a" / "setup.yaml"),
        "--map", "return/train=my_score", "--map", "step=my_step",
    )  # fmt: skip
    data = json.loads(result.stdout)
    assert result.returncode == 0
    assert data["run"]["return"]["last"] == 30
    assert data["run"]["env_steps"] == 3
    assert data["run"]["status"] == "crashed"
    assert data["config"]["learning_rate"] == {
        "value": 0.01, "native_key": "learning_rate", "file": "setup.yaml", "line": 1, "basis": "recorded",
        "default": False,
    }  # fmt: skip


def test_a_map_to_a_column_that_is_not_there_lists_the_columns(runs: Path) -> None:
    result = rlclinic("show", str(runs / "sb3" / "dqn_cartpole"), "--map", "return/train=nope")
    assert result.returncode == 2
    assert "no column 'nope' in this run" in result.stderr


def test_a_closed_pipe_is_no_error(runs: Path) -> None:
    command = f"{sys.executable} -m rlclinic show {runs / 'sb3' / 'ppo_cartpole'} | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "ppo_cartpole"
    assert "Traceback" not in result.stderr
