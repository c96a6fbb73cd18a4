"""`rlclinic diagnose` and `explain` as a user meets them."""

from __future__ import annotations

import json
import math
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.apps.settings import check_fail_on, load_settings
from rlclinic.model.errors import RunReadError, UsageError
from rlclinic.store.names import resolve
from tests.apps.test_cli import rlclinic


def test_a_path_alone_is_diagnosed(runs: Path) -> None:
    result = rlclinic(str(runs / "sb3" / "ppo_cartpole_high_lr"))
    assert result.returncode == 1
    assert "COLLAPSED" in result.stdout
    assert "learning-rate-too-high" in result.stdout
    assert "\x1b" not in result.stdout


def test_json_is_the_contract(runs: Path) -> None:
    result = rlclinic("diagnose", str(runs / "sb3" / "ppo_cartpole_high_lr"), "--json")
    data = json.loads(result.stdout)
    assert data["schema"] == "rlclinic.diagnosis/1"
    assert data["verdict"] == "collapsed"
    assert set(data) >= {"run", "findings", "not_checked", "causes", "classes", "prescriptions", "decision_path"}
    assert set(data["causes"][0]) >= {
        "id",
        "class",
        "kind",
        "probability",
        "metrics_only",
        "config_only",
        "for",
        "against",
    }


def test_a_told_goal_is_what_the_run_is_held_against(runs: Path) -> None:
    path = str(runs / "sb3" / "ppo_cartpole")
    data = json.loads(rlclinic("diagnose", path, "--goal", "100000", "--json").stdout)
    assert data["goal"] == {"level": 100000.0, "origin": "set with --goal"}
    assert data["run"]["return"]["threshold"] == 100000.0
    assert data["verdict"] != "solved"
    assert "100,000, set with --goal" in rlclinic("diagnose", path, "--goal", "100000").stdout


@pytest.mark.parametrize("goal", ["much", "nan", "inf"])
def test_a_goal_that_is_no_return_is_a_usage_error(runs: Path, goal: str) -> None:
    result = rlclinic("diagnose", str(runs / "sb3" / "ppo_cartpole"), "--goal", goal)
    assert result.returncode == 2
    assert "goal" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_healthy_run_exits_with_zero(runs: Path) -> None:
    assert rlclinic("diagnose", str(runs / "sb3" / "ppo_cartpole")).returncode == 0


def test_fail_on_moves_the_gate(runs: Path) -> None:
    path = str(runs / "sb3" / "ppo_cartpole_high_lr")
    assert rlclinic("diagnose", path, "--fail-on", "never").returncode == 0
    assert rlclinic("diagnose", path, "--select", "success", "--fail-on", "info").returncode == 1


def test_fail_on_takes_verdicts_and_priorities(runs: Path) -> None:
    path = str(runs / "sb3" / "ppo_cartpole_high_lr")

    def ends_with(words: str) -> int:
        return CliRunner().invoke(app, ["diagnose", path, "--brief", "--fail-on", words]).exit_code

    assert ends_with("not-learning,solved") == 0
    assert ends_with("not-learning,collapsed") == 1
    assert ends_with("critical") == 1
    with pytest.raises(UsageError, match="'colapsed' is no severity"):
        check_fail_on("colapsed")


def test_several_runs_give_one_line_each_and_the_exit_code_of_the_worst(runs: Path, tmp_path: Path) -> None:
    for name in ("ppo_cartpole", "ppo_cartpole_high_lr"):
        shutil.copytree(runs / "sb3" / name, tmp_path / name)
    result = CliRunner().invoke(app, [str(tmp_path)])
    assert result.exit_code == 1
    assert result.stdout.startswith("2 runs: 1 in trouble, 1 healthy, 0 undecided")
    assert result.stdout.index("ppo_cartpole_high_lr  collapsed") < result.stdout.index("ppo_cartpole          solved")


def test_what_the_user_says_of_a_run_comes_first_and_all_of_it_combines(runs: Path, tmp_path: Path) -> None:
    shutil.copy(runs / "sb3" / "ppo_cartpole_high_lr" / "progress.csv", tmp_path / "progress.csv")
    script = tmp_path / "elsewhere" / "train.py"
    script.parent.mkdir()
    script.write_text("from stable_baselines3 import PPO\nPPO('MlpPolicy', 'X-v0', learning_rate=0.05, n_epochs=7)\n")
    words = ["--config", str(script), "--env", "CartPole-v1", "--algo", "PPO", "--goal", "475", "--json"]
    result = CliRunner().invoke(app, ["diagnose", str(tmp_path / "progress.csv"), *words])
    data = json.loads(result.stdout)
    assert (data["run"]["environment"], data["run"]["algorithm"]) == ("CartPole-v1", "PPO")
    assert data["goal"] == {"level": 475.0, "origin": "set with --goal"}
    apply = data["answer"][2]["commands"]["apply"]
    assert "--env CartPole-v1 --algo PPO --goal 475" in apply
    assert f"--config {script}" in apply


def test_the_whole_disk_is_not_searched() -> None:
    result = CliRunner().invoke(app, ["/"])
    assert result.exit_code == 2


@pytest.mark.parametrize(("word", "meant"), [("diagnos", "diagnose"), ("explian", "explain"), ("compar", "compare")])
def test_a_misspelt_verb_gets_a_did_you_mean(word: str, meant: str) -> None:
    found = CliRunner().invoke(app, [word]).exception
    assert isinstance(found, UsageError)
    assert found.hint == f"did you mean `rlclinic {meant}`?"


def test_a_path_that_is_nearly_right_gets_a_did_you_mean(runs: Path) -> None:
    with pytest.raises(RunReadError) as caught:
        resolve(str(runs / "sb3" / "ppo_cartpol"))
    assert str(runs / "sb3" / "ppo_cartpole") in caught.value.hint


@pytest.mark.parametrize(("words", "offered"), [("rlclinic dia", "diagnose"), ("rlclinic diagnose --fa", "--fail-on")])
def test_the_shell_completes_verbs_and_options(words: str, offered: str) -> None:
    environment = {"_RLCLINIC_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    result = CliRunner().invoke(app, prog_name="rlclinic", env=environment)
    assert offered in result.stdout


def test_a_run_without_metrics_is_a_diagnosis_and_exit_code_5(runs: Path) -> None:
    result = rlclinic("diagnose", str(runs / "edge" / "aborted_start"), "--json")
    assert result.returncode == 5
    assert json.loads(result.stdout)["verdict"] == "insufficient-data"


def test_an_html_report_is_written_whole(runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    result = rlclinic("diagnose", str(runs / "sb3" / "ppo_cartpole"), "--output-format", "html", "-o", str(target))
    assert result.returncode == 0
    page = target.read_text(encoding="utf-8")
    HTMLParser().feed(page)
    assert page.lower().startswith("<!doctype html>")
    assert "<script" not in page
    assert not list(tmp_path.glob("*.part"))


def test_markdown_has_headings(runs: Path) -> None:
    result = rlclinic("diagnose", str(runs / "sb3" / "ppo_cartpole_high_lr"), "--output-format", "markdown")
    assert result.stdout.startswith("#")


def test_an_unknown_rule_is_a_usage_error(runs: Path) -> None:
    result = rlclinic("diagnose", str(runs / "sb3" / "ppo_cartpole"), "--ignore", "nonsense")
    assert result.returncode == 2
    assert "no rule or family is called 'nonsense'" in result.stderr


@pytest.mark.parametrize("name", ["POL04", "kl-too-large", "learning-rate-too-high", "observation-dead"])
def test_explain_prints_rules_and_causes(name: str) -> None:
    result = rlclinic("explain", name)
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) > 3


def test_explain_of_nothing_known_says_how_to_list() -> None:
    result = rlclinic("explain", "nonsense")
    assert result.returncode == 2
    assert "without a name lists them" in result.stderr


@pytest.mark.slow
def test_explain_why_prints_pieces_that_sum_to_the_probability(runs: Path) -> None:
    run, cause = str(runs / "sb3" / "ppo_cartpole_high_lr"), "learning-rate-too-high"
    data = json.loads(rlclinic("explain", run, "--why", cause, "--json").stdout)
    told = next(
        item for item in json.loads(rlclinic("diagnose", run, "--json").stdout)["causes"] if item["id"] == cause
    )
    assert math.exp(sum(piece["value"] for piece in data["pieces"])) == pytest.approx(data["probability"])
    assert data["probability"] == pytest.approx(told["probability"], abs=1e-3)
    lines = rlclinic("explain", run, "--why", cause).stdout.splitlines()
    numbers = [float(line.split()[0]) for line in lines[1:]]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.01 * len(numbers))
    assert any("kl-too-large" in line for line in lines)


def test_explain_why_of_a_cause_of_other_algorithms_says_that_it_is_out_of_the_question(runs: Path) -> None:
    result = rlclinic("explain", str(runs / "sb3" / "ppo_cartpole_high_lr"), "--why", "zero-variance-groups")
    assert (result.returncode, "out of the question" in result.stdout) == (0, True)


def test_explain_why_of_no_cause_says_how_to_list_them(runs: Path) -> None:
    result = rlclinic("explain", str(runs / "sb3" / "ppo_cartpole_high_lr"), "--why", "nonsense")
    assert result.returncode == 2
    assert "without a name lists them" in result.stderr


def test_explain_without_a_name_lists_everything() -> None:
    data = json.loads(rlclinic("explain", "--json").stdout)
    assert len(data["rules"]) >= 45
    assert {"nothing-wrong", "unknown"} <= {cause["id"] for cause in data["causes"]}


def test_settings_come_from_the_nearest_file(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.rlclinic]\nfail-on = "never"\n')
    assert load_settings(inner).fail_on == "never"
    (tmp_path / "a" / "rlclinic.toml").write_text('ignore = ["SUC05"]\n[thresholds.entropy-fell-early]\nLONG = 0.5\n')
    settings = load_settings(inner)
    assert (settings.fail_on, settings.ignore) == ("error", ("SUC05",))
    assert settings.thresholds == {"entropy-fell-early": {"LONG": 0.5}}


@pytest.mark.parametrize(
    ("text", "message"),
    [("fail = 1", "unknown setting 'fail'"), ('fail-on = "x"', "'x' is no severity"), ("a = ", "not valid TOML"),
     ("ignore = 5", "ignore is no list"), ('thresholds = {POL04 = "x"}', "no numbers by rule"),
     ("a = " + "[" * 100_000, "not valid TOML")],
)  # fmt: skip
def test_wrong_settings_are_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "rlclinic.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_settings(tmp_path)


def test_settings_inside_the_run_are_not_taken_and_others_are_told(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "project" / "run"
    shutil.copytree(runs / "sb3" / "ppo_cartpole_high_lr", run)
    (run / "rlclinic.toml").write_text('fail-on = "never"\nselect = ["SUC01"]\n')
    monkeypatch.chdir(run)
    result = CliRunner().invoke(app, ["diagnose", "."])
    assert (result.exit_code, "settings inside the run are not taken" in result.stderr) == (1, True)
    monkeypatch.chdir(tmp_path / "project")
    (tmp_path / "project" / "rlclinic.toml").write_text('fail-on = "never"\n')
    result = CliRunner().invoke(app, ["diagnose", "run"])
    assert (result.exit_code, "settings of " in result.stderr) == (0, True)
