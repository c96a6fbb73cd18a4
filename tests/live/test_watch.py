"""`rlclinic watch`: new runs appear, events are told once, and the exit code says how it stands."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.live import follow
from rlclinic.live import watch as module
from rlclinic.live.conditions import Condition
from rlclinic.live.examination import Look
from rlclinic.live.view import detail, overview
from rlclinic.live.watch import Watch
from rlclinic.model.finding import Severity
from rlclinic.readers.discover import RunRef
from rlclinic.readers.place import Place
from tests.live.conftest import BUDGET, rows


@pytest.fixture(autouse=True)
def _search_and_look_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEARCH_EVERY", 0.0)
    monkeypatch.setattr(module, "SHARE", 1e9)


class Run:
    """A run that grows row by row."""

    def __init__(self, folder: Path, **options: Any) -> None:
        folder.mkdir(parents=True)
        self.path = folder / "progress.csv"
        self.rows = list(rows(**options))
        self.path.write_text(",".join(["time/total_timesteps", *self.rows[0][0]]) + "\n")

    def grow(self, count: int) -> None:
        with self.path.open("a") as file:
            for row, step in self.rows[:count]:
                file.write(",".join(map(str, [step, *row.values()])) + "\n")
        del self.rows[:count]


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["watch", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_a_run_that_begins_later_is_found_and_followed_to_its_alert(tmp_path: Path) -> None:
    watch = Watch([str(tmp_path)])
    assert watch.poll() == []
    growing = Run(tmp_path / "PPO_1", explodes_from=20)
    growing.grow(18)
    first = watch.poll()
    assert [event.kind for event in first][:1] == ["run"]
    assert watch.poll() == []
    told = []
    while growing.rows:
        growing.grow(2)
        told += watch.poll()
    raised = [event.alert for event in told if event.alert is not None and event.alert.key == "gradient-explosion"]
    assert [alert.change.value for alert in raised if alert is not None] == ["raised"]
    assert raised[0] is not None
    assert raised[0].command == f"rlclinic diagnose {tmp_path / 'PPO_1'}"
    (watched,) = watch.runs.values()
    assert watched.look is not None
    assert "alert: [error] Gradient explosion" in detail(watched, 100)
    watched.look = Look(watched.look.diagnosis, (), (Condition("q", Severity.WARNING, "Q-value divergence", ""),))
    assert detail(watched, 100)[-1] == "alert: [warning] Q-value divergence"
    assert watched.look.errors == ()


def test_a_run_that_goes_away_and_comes_back_is_told_both_times(tmp_path: Path) -> None:
    growing = Run(tmp_path / "PPO_1")
    growing.grow(5)
    watch = Watch([str(tmp_path / "PPO_1")])
    watch.poll()
    growing.path.unlink()
    growing.path.parent.rmdir()
    assert [event.kind for event in watch.poll()] == ["gone"]
    assert watch.poll() == [], "one message for a change of state"
    Run(tmp_path / "PPO_1").grow(9)
    watch.poll()
    assert watch.runs[str(tmp_path / "PPO_1")].problem == ""


def test_a_run_whose_disk_fails_takes_no_other_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = [Run(tmp_path / name) for name in ("stale", "sound")]
    watch = Watch([str(tmp_path)])
    place_of = follow.place_of

    def failing(ref: RunRef) -> Place:
        if ref.path.name == "stale":
            raise OSError(errno.ESTALE, "Stale file handle")
        return place_of(ref)

    monkeypatch.setattr(follow, "place_of", failing)
    for growing in both:
        growing.grow(5)
    assert sorted((event.kind, Path(event.name).name) for event in watch.poll())[-1] == ("unreadable", "stale")
    assert watch.runs[str(tmp_path / "sound")].look is not None


def test_a_run_that_was_written_to_just_now_does_not_end_the_watch(tmp_path: Path) -> None:
    growing = Run(tmp_path / "PPO_1")
    growing.grow(9)
    (tmp_path / "PPO_1" / "config.json").write_text(json.dumps({"total_timesteps": BUDGET}))
    watch = Watch([str(tmp_path)])
    watch.poll()
    assert not watch.ended
    watch.poll()
    assert not watch.ended


def test_json_is_one_event_a_line(runs: Path) -> None:
    code, text = run("--json", "--once", str(runs / "sb3" / "ppo_cartpole"))
    events = [json.loads(line) for line in text.splitlines()]
    assert [event["event"] for event in events] == ["run"]
    assert events[0]["schema"] == "rlclinic.watch/1"
    assert events[0]["verdict"] == "solved"
    assert code == 0


def test_many_runs_are_a_table(runs: Path) -> None:
    _, text = run("--once", str(runs / "sb3"))
    lines = text.splitlines()
    assert lines[0].split()[:3] == ["run", "state", "step"]
    assert any(line.startswith("ppo_cartpole_env_crash  ") and "crashed" in line for line in lines)


def test_a_table_that_is_too_wide_does_without_its_curve_before_its_alerts(runs: Path) -> None:
    watch = Watch([str(runs / "sb3")])
    watch.poll()
    both = [watch.runs[str(runs / "sb3" / name)] for name in ("ppo_cartpole", "ppo_cartpole_high_lr")]
    wide, narrow = (overview(both, width) for width in (200, 70))
    assert wide[0].split() == ["run", "state", "step", "used", "return", "left", "advice", "alerts"]
    assert narrow[0].split()[-3:] == ["return", "advice", "alerts"]
    assert "█" in wide[1]
    assert "█" not in narrow[1]


def test_one_run_is_shown_in_detail(runs: Path) -> None:
    _, text = run("--once", str(runs / "sb3" / "ppo_cartpole_high_lr"))
    assert "rollout/ep_rew_mean" in text
    assert "train/approx_kl" in text
    assert "collapsed: " in text


def test_runs_that_have_ended_end_the_watch_and_an_error_that_holds_is_an_exit_code(runs: Path) -> None:
    code, text = run(str(runs / "sb3" / "ppo_cartpole"))
    assert code == 0
    assert "finished at step 16,384" in text


def test_nothing_to_watch_is_an_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["watch", "--once", str(tmp_path / "nowhere")])
    assert "no run is there" in str(result.exception)


def test_a_run_that_crashed_has_no_advice(tmp_path: Path) -> None:
    growing = Run(tmp_path / "PPO_1")
    growing.grow(9)
    (tmp_path / "PPO_1" / "train.log").write_text(
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nValueError: bad\n'
    )
    _, told = run("--once", "--json", str(tmp_path / "PPO_1"))
    event = json.loads(told.splitlines()[0])
    assert (event["state"], event["advice"]) == ("crashed", None)
