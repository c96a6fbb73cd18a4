"""What the server remembers of runs: it answers from memory, and never from memory that is out of date."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from rlclinic.apps.mcp.bound import MOST_ANSWERS, BoundTool
from rlclinic.apps.mcp.jobs import end_job, find_job
from rlclinic.apps.mcp.registry import STEADY, TOOLS
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.readers.process import process_start
from rlclinic.store.ledger import Ledger
from rlclinic.store.processes import note_process
from tests.apps.mcp.talk import RUNS, SOLVER, make_root


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("RLCLINIC_INDEX", str(tmp_path / "index.sqlite"))
    monkeypatch.setenv("RLCLINIC_LEDGER", str(tmp_path / "trials.sqlite"))
    return Workspace(make_root(tmp_path).resolve())


def ask(workspace: Workspace, tool: str, **arguments: Any) -> Any:
    row = next(row for row in TOOLS if row.name == tool)
    return anyio.run(BoundTool(row, workspace).answer, arguments)


def cut(table: Path, rows: int) -> None:
    """Leave the first rows of a table."""
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join(lines[: rows + 1]), encoding="utf-8")


def test_an_answer_is_given_again_until_a_file_of_the_run_changes(workspace: Workspace) -> None:
    first = ask(workspace, "get_run_info", run_id=SOLVER)
    assert ask(workspace, "get_run_info", run_id=f"runs/{SOLVER}") is first, "by whatever name"
    cut(workspace.root / "runs" / SOLVER / "metrics.csv", 40)
    second = ask(workspace, "get_run_info", run_id=SOLVER)
    assert second.structured_content["env_steps"] < first.structured_content["env_steps"]


def test_a_new_entry_in_the_ledger_makes_a_new_diagnosis(workspace: Workspace) -> None:
    first = ask(workspace, "diagnose", run_id=SOLVER)
    assert ask(workspace, "diagnose", run_id=SOLVER) is first
    Ledger().start("a-trial", environment="CartPole-v1", algorithm="PPO", plan={})
    assert ask(workspace, "diagnose", run_id=SOLVER) is not first


def test_other_arguments_get_another_answer(workspace: Workspace) -> None:
    few, more = (ask(workspace, "get_run_metrics", run_id=SOLVER, limit=limit) for limit in (1, 2))
    assert (few.structured_content["rows"], more.structured_content["rows"]) == (1, 2)


def test_a_change_below_the_runs_folder_counts_too(workspace: Workspace) -> None:
    before = ask(workspace, "get_run_info", run_id=SOLVER).structured_content["checkpoints"]
    shutil.rmtree(workspace.root / "runs" / SOLVER / "checkpoints" / before[-1])
    assert before[-1] not in ask(workspace, "get_run_info", run_id=SOLVER).structured_content["checkpoints"]


def test_errors_are_not_remembered(workspace: Workspace) -> None:
    assert ask(workspace, "get_run_info", run_id="late").is_error
    shutil.copytree(RUNS / "sb3" / "ppo_cartpole", workspace.root / "others" / "late")
    assert not ask(workspace, "get_run_info", run_id="late").is_error


def test_only_so_many_answers_of_a_run_are_kept(workspace: Workspace) -> None:
    for limit in range(1, MOST_ANSWERS + 3):
        ask(workspace, "get_run_metrics", run_id=SOLVER, limit=limit)
    assert len(workspace.open(SOLVER).answers) <= MOST_ANSWERS


def test_every_remembered_tool_is_about_one_run() -> None:
    import inspect

    for row in TOOLS:
        if row.name in STEADY:
            assert row.effect == "reads"
            assert "run_id" in inspect.signature(row.function).parameters


def test_an_id_is_looked_up_once_and_again_when_its_run_is_gone(workspace: Workspace) -> None:
    first = workspace.open("ppo_cartpole_high_lr")
    assert workspace.open("ppo_cartpole_high_lr") is first
    (workspace.root / "others" / "ppo_cartpole_high_lr").rename(workspace.root / "moved")
    with pytest.raises(RlclinicError, match="no run is called"):
        workspace.open("ppo_cartpole_high_lr")


def test_a_link_that_is_turned_away_is_noticed(workspace: Workspace) -> None:
    link = workspace.root / "runs" / "current"
    link.symlink_to(SOLVER)
    assert workspace.open("runs/current").run.framework == "gymnasium-solver"
    link.unlink()
    link.symlink_to("../../outside/private_run")
    with pytest.raises(UsageError, match="leads out of the root"):
        workspace.open("runs/current")


def test_runs_that_are_a_link_out_of_the_root_are_refused(workspace: Workspace) -> None:
    shutil.move(workspace.root / "runs", workspace.root.parent / "outside" / "runs")
    (workspace.root / "runs").symlink_to("../outside/runs")
    for tool, arguments in (
        ("get_run_info", {"run_id": SOLVER}),
        ("get_run_info", {"run_id": f"runs/{SOLVER}"}),
        ("get_training_status", {"run_id": "@last"}),
        ("start_training", {"config_id": "CartPole-v1:ppo"}),
        ("start_trial", {"run_id": "others/ppo_cartpole", "changes": {"gamma": 0.9}}),
    ):
        told = ask(workspace, tool, **arguments)
        assert told.is_error, tool
        assert "leads out of the root" in told.content[0].text, tool
    assert not (workspace.root / ".rlclinic").exists()


def test_jobs_are_not_written_through_a_link_out_of_the_root(workspace: Workspace) -> None:
    outside = workspace.root.parent / "outside"
    (workspace.root / ".rlclinic").symlink_to(outside)
    told = ask(workspace, "probe_trainer", trainer="sb3:PPO")
    assert told.is_error
    assert "leads out of the root" in told.content[0].text
    assert not (outside / "jobs").exists()


def test_a_goal_is_diagnosed_apart_from_the_run_as_it_is(workspace: Workspace) -> None:
    opened = workspace.open(SOLVER)
    told = opened.towards(12_345.0).goal
    assert told is not None
    assert (told.level, told.origin) == (12_345.0, "set with --goal")
    assert opened.towards(None) is opened.diagnosis
    assert opened.diagnosis.goal != told


def test_a_job_that_only_a_file_below_the_root_names_is_sent_nothing_and_takes_no_place(workspace: Workspace) -> None:
    name = "trial-20260101-000000-abcd"
    folder = workspace.root / ".rlclinic" / "jobs" / name
    folder.mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as stranger:
        who = {"pid": stranger.pid, "process_started": process_start(stranger.pid), "host": socket.gethostname()}
        (folder / "job.json").write_text(json.dumps({"id": name, "kind": "trial", "what": "", "started": 1.0, **who}))
        job = find_job(workspace, name)
        assert job is not None
        assert not job.alive
        assert end_job(job, 0.1)
        assert stranger.poll() is None
        note_process(stranger.pid, folder)
        assert job.alive
        stranger.kill()


def test_what_a_setting_keeps_secret_is_hidden_in_every_tool_that_shows_the_log(workspace: Workspace) -> None:
    folder, bare, login = workspace.root / "runs" / SOLVER, "q7Rk2ZpXv9Lm4TcW", "h4Lw8KqT2z"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    more = {f"key{i}_password": f"aB{i}cD{i}eF{i}gH{i}" for i in range(40)}
    more |= {"judge": {"token": bare}, "storage": f"postgres://ada:{login}@db/1"}
    (folder / "config.json").write_text(json.dumps(config | more), encoding="utf-8")
    told = f"ValueError: no access with {bare} or {login} or {more['key39_password']}\n"
    with (folder / "run.log").open("a", encoding="utf-8") as log:
        log.write(f"Traceback (most recent call last):\n  File 'a.py', line 1, in b\n{told}")

    for tool in ("get_run_logs", "stream_training_logs", "get_training_progress", "diagnose", "get_run_info"):
        answer = ask(workspace, tool, run_id=SOLVER, **({"include_details": True} if "progress" in tool else {}))
        everything = answer.model_dump_json()
        assert not {secret for secret in (bare, login, more["key39_password"]) if secret in everything}, tool
        assert "no access with" in everything or tool != "get_run_logs"
