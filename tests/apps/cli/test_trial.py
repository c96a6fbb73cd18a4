"""`rlclinic trial` as a user calls it, with the user's own trainer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlclinic.apps.cli.trial import trial
from rlclinic.model.errors import RlclinicError, UsageError
from tests.conftest import RUNS

BAD = str(RUNS / "faults" / "high_lr_ppo_cartpole")
TRAINER = Path(__file__).parents[2] / "trials" / "trainer.py"
COMMAND = (
    f"{sys.executable} {TRAINER} --lr {{learning_rate}} --seed {{seed}} --steps {{total_steps}} --logdir {{logdir}}"
)


def _trial(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(trial, [BAD, "--root", str(root), *arguments])


def _error(root: Path, *arguments: str) -> RlclinicError:
    error = _trial(root, *arguments).exception
    assert isinstance(error, RlclinicError)
    return error


def test_a_refuted_change_exits_with_1_and_says_why(tmp_path: Path) -> None:
    arguments = ("--change", "learning_rate=0.0001", "--seeds", "3", "--budget", "200", "--command", COMMAND)
    result = _trial(tmp_path, *arguments, "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["schema"], data["verdict"]) == (1, "rlclinic.trial/1", "refuted")
    assert data["arms"][0]["changes"] == [{"key": "learning_rate", "from": 0.1, "to": 0.0001}]
    assert data["arms"][0]["effects"][0]["after"] < data["arms"][0]["effects"][0]["before"]


@pytest.mark.slow
def test_the_page_shows_every_run_and_is_written_whole(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ("--change", "learning_rate=0.3", "--seeds", "3", "--budget", "200", "--command", COMMAND)
    result = _trial(tmp_path, *arguments, "--output-format", "html", "-o", str(page))
    assert result.exit_code == 0
    html = page.read_text(encoding="utf-8")
    assert html.count('<path class="line line-0"') == html.count('<path class="line line-1"') == 4  # 3 runs and a key
    assert "learning_rate 0.1 -&gt; 0.3" in html


@pytest.mark.slow
def test_a_told_goal_is_the_threshold_of_the_trial(tmp_path: Path) -> None:
    arguments = ("--change", "learning_rate=0.3", "--seeds", "3", "--budget", "200", "--command", COMMAND)
    assert json.loads(_trial(tmp_path, *arguments, "--goal", "1.5", "--json").stdout)["threshold"] == 1.5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--change", "gama=0.9"), "gama"),
        (("--change", "learning_rate=abc"), "learning_rate = 'abc'"),
        (("--change", "learning_rate=0.2", "--goal", "nan"), "goal"),
        (("--change", "total_steps=5000"), "same budget"),
        (("--change", "learning_rate=0.1"), "changes nothing"),
        (("--change", "learning_rate=0.2", "--seeds", "0"), "--seeds 0"),
        (("--change", "gamma=0.9", "--command", COMMAND), "no place for gamma"),
        (("--change", "learning_rate=0.2", "--command", "python train.py {nowhere} {learning_rate}"), "nowhere"),
    ],
)
def test_a_trial_that_cannot_be_run_is_told_before_anything_is_trained(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    if "--command" not in arguments:
        pytest.importorskip("stable_baselines3")
    error = _error(tmp_path, *arguments)
    assert isinstance(error, UsageError)
    assert words in error.message
    assert not (tmp_path / "trials").exists()


def test_a_trial_without_a_readable_run_is_no_verdict(tmp_path: Path) -> None:
    silent = f"{sys.executable} -c 'import sys; print(sys.argv[1])' {{learning_rate}}"
    result = _trial(tmp_path, "--change", "learning_rate=0.3", "--seeds", "3", "--command", silent)
    assert result.exit_code == 5
    assert "inconclusive" in result.stdout
