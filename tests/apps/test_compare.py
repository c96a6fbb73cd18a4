"""`rlclinic compare` and the formats of `diagnose` for machines, as a user calls them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rlclinic.apps.cli import main
from tests.comparison.builders import chosen_runs
from tests.conftest import RUNS

FAULTS = RUNS / "faults"
GOOD, BAD = str(FAULTS / "solved_ppo_cartpole"), str(FAULTS / "high_lr_ppo_cartpole")


@dataclass(frozen=True)
class Result:
    returncode: int
    stdout: str
    stderr: str


Call = Callable[..., Result]


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chosen_runs(tmp_path_factory.mktemp("past"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One index for all calls, so that the recorded runs are read once."""
    return tmp_path_factory.mktemp("index") / "runs.sqlite"


@pytest.fixture
def rlclinic(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The command line as a function, called in an empty folder."""

    def call(*arguments: str, **environment: str) -> Result:
        for key, value in {"RLCLINIC_INDEX": str(index), **environment}.items():
            monkeypatch.setenv(key, value)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["rlclinic", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return Result(int(stop.value.code or 0), printed.out, printed.err)

    return call


def test_two_runs_are_compared_as_text(rlclinic: Call) -> None:
    result = rlclinic("compare", GOOD, BAD, "--no-history")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("2 runs on CartPole-v1\n")
    for words in ("Outcomes", "Settings that differ", "learning_rate", "Where the curves part"):
        assert words in result.stdout


def test_the_best_run_of_the_folder_is_added_unless_it_is_not_wanted(rlclinic: Call, past: Path) -> None:
    data = json.loads(rlclinic("compare", str(past / "low_gamma_ppo_cartpole"), "--json").stdout)
    assert data["schema"] == "rlclinic.compare/1"
    assert [run["reference"] for run in data["runs"]] == [False, True]
    assert data["runs"][1]["final"] > 400
    alone = json.loads(rlclinic("compare", str(past / "low_gamma_ppo_cartpole"), "--no-history", "--json").stdout)
    assert len(alone["runs"]) == 1


def test_a_page_is_written_whole(rlclinic: Call, tmp_path: Path) -> None:
    target = tmp_path / "compare.html"
    result = rlclinic("compare", GOOD, BAD, "--no-history", "--output-format", "html", "-o", str(target))
    assert result.returncode == 0
    page = target.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count('class="line line-1"') >= 1
    assert not list(tmp_path.glob("*.part"))


def test_a_missing_run_is_an_error_and_the_others_are_still_shown(rlclinic: Call) -> None:
    result = rlclinic("compare", GOOD, "nowhere/at/all", "--no-history")
    assert result.returncode == 2
    assert "nowhere/at/all" in result.stderr
    assert "solved_ppo_cartpole" in result.stdout


def test_only_missing_runs_as_json_are_an_error_object(rlclinic: Call) -> None:
    result = rlclinic("compare", "nowhere/at/all", "--json")
    assert result.returncode == 2
    assert json.loads(result.stdout)["schema"] == "rlclinic.error/1"


def test_a_history_is_told_for_an_environment(rlclinic: Call, past: Path) -> None:
    result = rlclinic("compare", "--history", str(past), "--env", "Acrobot-v1", "--json")
    assert result.returncode == 0, result.stderr
    data = json.loads(result.stdout)
    assert data["schema"] == "rlclinic.history/1"
    assert data["best"][0]["label"] == "healthy_ppo_acrobot"
    assert data["enough"] is False


def test_an_environment_without_a_run_is_exit_code_5(rlclinic: Call, past: Path) -> None:
    result = rlclinic("compare", "--history", str(past), "--env", "Nope-v0")
    assert result.returncode == 5
    assert "no run of Nope-v0" in result.stderr


def test_the_task_of_a_run_can_be_said_where_its_files_do_not_tell(rlclinic: Call, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"global_step={500 * at}, episodic_return={at}\n" for at in range(1, 60)))
    asked = ("compare", str(log), "--no-history", "--reference")
    assert "--env and --algorithm" in rlclinic(*asked).stdout
    told = rlclinic(*asked, "--env", "CartPole-v1", "--algorithm", "PPO")
    assert told.returncode == 0
    assert "1 run on CartPole-v1" in told.stdout
    assert "of known-good runs" in told.stdout


def test_github_annotations_point_at_the_config_and_the_step_summary_has_the_report(
    rlclinic: Call, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    result = rlclinic(
        "diagnose", BAD, "--output-format", "github", GITHUB_STEP_SUMMARY=str(summary), GITHUB_WORKSPACE=str(FAULTS)
    )
    assert result.returncode == 1
    assert "::error " in result.stdout
    assert "file=high_lr_ppo_cartpole/config.yaml,line=8," in result.stdout
    written = summary.read_text(encoding="utf-8")
    assert written.startswith("before\n# high")
    assert "## Findings" in written


def test_sarif_of_several_runs_is_one_document(rlclinic: Call) -> None:
    result = rlclinic("diagnose", GOOD, BAD, "--output-format", "sarif")
    (run,) = json.loads(result.stdout)["runs"]
    assert {item["properties"]["run"] for item in run["results"]} >= {"high_lr_ppo_cartpole"}
    assert "What to change" in run["tool"]["driver"]["rules"][0]["help"]["text"]


@pytest.mark.parametrize("verb", [["compare", "--help"], ["diagnose", "--help"]])
def test_help_names_every_format(rlclinic: Call, verb: list[str]) -> None:
    text = rlclinic(*verb).stdout
    assert "markdown" in text
    assert ("sarif" in text) == (verb[0] == "diagnose")
