"""Whether a run goes on is decided in one place, so every verb and tool says the same; status.json may be anybody's."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.apps.mcp.tools.progress import get_training_status
from rlclinic.apps.mcp.tools.runs import get_run_info
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.lab.background import stop
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.folder import create_folder, open_folder
from rlclinic.lab.train import train
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.run import Status
from rlclinic.readers import process
from rlclinic.readers.open import read
from rlclinic.readers.process import is_running, process_start
from rlclinic.readers.state import AHEAD, RunState, is_alive, parse_state, running_here, status_now
from tests.lab.environments import small

HERE = socket.gethostname()
DAY = 86_400.0


@pytest.fixture
def dead() -> RunState:
    """The state of a run whose process of this machine has just been killed: its heart beat a moment ago."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    state = replace(running_here(), pid=child.pid, process_started=process_start(child.pid))
    child.kill()
    child.communicate()
    return state


@pytest.fixture
def root(tmp_path: Path, runs: Path) -> Path:
    """A root with one run that claims to be running."""
    source = next((runs / "gymnasium_solver" / "runs").glob("*103000"))
    shutil.copytree(source, tmp_path / "project" / "runs" / "claimed")
    (tmp_path / "project" / "runs" / "claimed" / "run.log").unlink(missing_ok=True)
    return tmp_path / "project"


def claim(root: Path, state: dict[str, Any]) -> Path:
    path = root / "runs" / "claimed"
    (path / "status.json").write_text(json.dumps(state))
    return path


def told(root: Path) -> dict[str, str]:
    """What everything that tells of runs says of this one."""

    def ask(*arguments: str) -> Any:
        result = CliRunner().invoke(app, [*arguments, "--json"])
        assert isinstance(result.exception, SystemExit | None), result.exception
        return json.loads(result.stdout)

    runs, run = str(root / "runs"), str(root / "runs" / "claimed")
    workspace = Workspace(root.resolve())
    return {
        "show": ask("show", run)["run"]["status"],
        "diagnose": ask("diagnose", run)["run"]["status"],
        "runs": ask("runs", runs)["runs"][0]["status"],
        "status": ask("status", runs)["runs"][0]["state"],
        "get_training_status": get_training_status(workspace, "claimed").status,
        "get_run_info": get_run_info(workspace, "claimed").status,
    }


def test_a_killed_process_of_this_machine_is_over_everywhere_at_once(root: Path, dead: RunState) -> None:
    claim(root, dead.to_json())
    assert set(told(root).values()) == {"interrupted"}


def test_no_clock_ends_a_living_run_or_keeps_a_dead_one_alive(dead: RunState) -> None:
    for shift in (-400 * DAY, -DAY, DAY, 400 * DAY):
        beaten = {"heartbeat": time.time() + shift, "started": time.time() + shift}
        assert status_now(replace(running_here(), **beaten)).state == "running"
        assert status_now(replace(dead, **beaten)).state == "interrupted"


def test_a_run_that_trains_is_not_resumed_however_old_its_heartbeat(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    folder = create_folder(tmp_path / "runs", small("PPO"), {})
    for shift in (-400 * DAY, 400 * DAY):
        folder.set_state(replace(running_here(), heartbeat=time.time() + shift))
        with pytest.raises(UsageError, match="trains this run"):
            train(resume=folder.path)


@pytest.mark.parametrize(
    ("age", "every", "state"),
    [
        (1.0, 5.0, "running"),
        (120.0, 5.0, "interrupted"),
        (120.0, 0.0, "running"),
        (900.0, 0.0, "interrupted"),
        (-30.0, 5.0, "running"),
        (-DAY, 5.0, "unknown"),
        (2 * DAY, 1e12, "interrupted"),
    ],
)
def test_elsewhere_the_heartbeat_tells_and_one_from_the_future_tells_nothing(
    age: float, every: float, state: str
) -> None:
    away = replace(running_here(), host="elsewhere", heartbeat=time.time() - age, heartbeat_every=every)
    now = status_now(away)
    assert now.state == state
    assert (now.reason == AHEAD) == (state == "unknown")


ODD: list[Any] = [None, True, -1, 0, 1.5, 10**400, -(10**400), 1e308, float("nan"), float("inf"), "text", [], {}, [[1]]]


@pytest.mark.parametrize("key", ["reason", "pid", "process_started", "host", "heartbeat", "heartbeat_every", "ended"])
def test_odd_values_are_taken_for_none(key: str) -> None:
    for value in ODD:
        state = parse_state({**running_here().to_json(), key: value})
        assert state is not None
        assert status_now(state).state in ("running", "interrupted", "unknown")
        assert json.loads(json.dumps(state.to_json(), allow_nan=False))


@pytest.mark.parametrize(
    "claimed",
    [
        {"state": "running", "pid": 10**400, "host": HERE, "started": 10**400, "env_steps": "many", "seconds": -1},
        {"state": "running", "pid": [1], "host": {"a": 1}, "heartbeat": "now", "reason": ["\x1b[2J"]},
        {"state": "running", "pid": True, "host": HERE, "heartbeat": float("nan"), "seconds": float("inf")},
        {"state": ["running"]},
        {"state": "exploded"},
    ],
)
def test_a_hostile_status_file_breaks_no_verb_and_no_tool(root: Path, claimed: dict[str, Any]) -> None:
    path = claim(root, claimed)
    result = CliRunner().invoke(app, ["status", str(root / "runs")])
    assert result.exit_code == 0, result.exception
    assert read(path).status.state in tuple(Status)
    assert get_training_status(Workspace(root.resolve()), "claimed").run_id
    stopped = CliRunner().invoke(app, ["stop", str(path)])
    assert stopped.exit_code == 0 or isinstance(stopped.exception, RlclinicError)


def test_a_status_file_that_is_nested_huge_or_a_pipe_is_told(root: Path) -> None:
    path = claim(root, {}) / "status.json"
    for text in ("[" * 100_000, '{"state": "running", "reason": "' + "x" * (1 << 20) + '"}'):
        path.write_text(text)
        assert CliRunner().invoke(app, ["status", str(root / "runs"), "--json"]).exit_code == 0
    path.unlink()
    os.mkfifo(path)
    (told,) = json.loads(CliRunner().invoke(app, ["status", str(root / "runs"), "--json"]).stdout)["runs"]
    assert (told["state"], told["reason"]) == ("unknown", "status.json cannot be read: not a regular file")


def test_the_reason_of_a_run_does_not_act_on_the_terminal(root: Path) -> None:
    claim(root, {"state": "crashed", "reason": "\x1b[2J\u202egone\x9b31m"})
    shown = CliRunner().invoke(app, ["status", str(root / "runs"), "--all"]).stdout
    assert "gone" in shown
    assert all(char.isprintable() or char == "\n" for char in shown)


@pytest.mark.parametrize("pid", [0, -1, 2**31, 10**30])
def test_a_number_that_is_no_process_s_is_not_looked_for(pid: int) -> None:
    assert is_running(pid, "1", HERE) is None


def test_a_process_that_the_system_hides_is_not_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(process, "process_start", lambda pid: "")
    monkeypatch.setattr(os, "kill", forbidden)
    assert is_alive(running_here()) is None


def test_a_process_without_its_start_may_be_any(dead: RunState) -> None:
    assert is_alive(replace(running_here(), process_started="")) is None
    assert is_alive(replace(dead, process_started="")) is False


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({}, "names no process"),
        ({"pid": 0, "host": HERE}, "names no process"),
        ({"pid": -5, "host": "elsewhere"}, "runs on elsewhere"),
        ({"pid": 77, "host": "elsewhere"}, "runs on elsewhere"),
    ],
)
def test_stop_does_not_tell_the_user_to_end_a_process_that_a_file_names(
    root: Path, state: dict[str, Any], message: str
) -> None:
    folder = open_folder(claim(root, {"state": "running", "heartbeat": time.time(), **state}))
    with pytest.raises(TrainingError, match=message) as caught:
        stop(folder, timeout=1)
    assert caught.value.hint == "stop it where it was started"


def test_nothing_is_sent_to_a_process_that_this_user_did_not_start_for_the_run(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    folder = open_folder(claim(root, running_here().to_json()))
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(number))
    with pytest.raises(TrainingError, match="no training of this folder that you started"):
        stop(folder, timeout=1)
    assert not sent


@pytest.mark.parametrize(("ahead", "state"), [(0.0, "running"), (DAY, "unknown"), (-DAY, "unknown")])
def test_logs_with_times_in_the_future_are_not_being_written(tmp_path: Path, ahead: float, state: str) -> None:
    for number, name in enumerate(("progress.csv", "log.txt")):
        path = tmp_path / "run" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("time/total_timesteps,rollout/ep_rew_mean\n100,1\n200,2\n300,3\n" if number == 0 else "begun\n")
        os.utime(path, (time.time() + ahead - 60 * number,) * 2)
    assert read(tmp_path / "run").status.state == state
