"""`rlclinic examine`: formats, tiers and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.environment import isolate
from rlclinic.environment.make import maker_of
from rlclinic.environment.measure import Wanted, measure
from tests.environment.conftest import small

__all__ = ["small"]


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    """The process apart is tested by itself; here it would only cost time."""

    def here(request: isolate.Request, progress: object = None) -> object:
        return measure(
            maker_of(request.environment, request.arguments), request.environment, Wanted(120.0), lambda *_: None
        )

    monkeypatch.setattr(isolate, "examine_isolated", here)


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["examine", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_a_sound_environment_exits_with_0_and_says_so() -> None:
    code, text = _run("tests.environment.tasks:Slide")
    assert code == 0
    assert "NO-FAULT-FOUND" in text
    assert "Simple policies" in text


def test_a_broken_one_exits_with_1_and_tells_the_arithmetic_as_json() -> None:
    code, text = _run("tests.environment.tasks:Noisy", "--json")
    found = json.loads(text[text.index("{") :])
    assert code == 1
    assert found["schema"] == "rlclinic.examine/1"
    assert found["causes"][0]["id"] == "noisy-reward"
    assert found["environment"]["reward"]["noise_share"] > 0.5
    assert [one["frames"] for one in found["environment"]["shown"]] == [0]


def test_a_page_shows_histograms_and_effects(tmp_path: Path) -> None:
    code, _ = _run("tests.environment.tasks:Slide", "--output-format", "html", "-o", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert code == 0
    assert "Numbers of the observation" in page
    assert "Effect of each action" in page
    assert "The median episode of the random policy" in page
    assert "way:" in page
    assert "<script" not in page


def test_recorded_steps_are_examined_without_an_environment(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    seen = np.cumsum(rng.normal(size=(2000, 2)), axis=0) % 5
    np.savez(
        tmp_path / "t.npz",
        obs=seen,
        act=rng.integers(0, 2, 2000),
        rews=np.zeros(2000),
        dones=np.arange(2000) % 20 == 19,
    )
    code, text = _run("--trace", str(tmp_path / "t.npz"), "--all", "--json")
    found = json.loads(text[text.index("{") :])
    assert found["environment"]["source"] == "trace"
    assert code in (0, 1)


def test_nothing_to_examine_is_a_usage_error() -> None:
    result = CliRunner().invoke(app, ["examine"])
    assert "nothing to examine" in str(result.exception)


@pytest.mark.parametrize("named", ["own_code:Env", "own_code:Env-v0", "{root}/own.yaml", "--policy"])
def test_what_only_a_run_names_is_neither_imported_nor_opened(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_code.py").write_text("open('executed', 'w')\n", encoding="utf-8")
    (tmp_path / "own.yaml").write_text("env_id: CartPole-v1\nalgorithm: ppo\n", encoding="utf-8")
    run = tmp_path / "run"
    run.mkdir()
    (run / "progress.csv").write_text("step,return\n1,2\n2,3\n", encoding="utf-8")
    (run / "config.json").write_text(json.dumps({"env_id": named.format(root=tmp_path)}), encoding="utf-8")
    result = CliRunner().invoke(app, ["examine", "--run", str(run)])
    assert "which is no id" in str(result.exception)
    assert not (tmp_path / "executed").exists()
