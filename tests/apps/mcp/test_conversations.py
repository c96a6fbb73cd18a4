"""Whole conversations over HTTP, as the agents hold them: a failed run, an active run, a wish for faster training."""

from __future__ import annotations

import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.readers.state import running_here
from tests.apps.mcp.talk import CRASHED, PATIENCE, RUNS, SOLVER, Talk, make_root

TOKEN = "a-token-of-the-tests"
ACTIVE = "active-run"
ROWS_SO_FAR = 40
PAST = (
    "solved", "fast_lr", "high_lr", "low_lr", "small_batch", "uniform", "growing_lr", "fading_lr", "low_gamma",
    "high_entropy", "many_epochs", "unusual", "tight_clip",
)  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_active(root: Path) -> None:
    """The first half of a recorded run, with a process that is alive: this one."""
    source, target = root / "runs" / SOLVER, root / "runs" / ACTIVE
    target.mkdir()
    shutil.copy(source / "config.json", target)
    with open(source / "metrics.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    with open(target / "metrics.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows[: ROWS_SO_FAR + 1])
    state = running_here(seconds=5.0, env_steps=ROWS_SO_FAR * 256)
    (target / "status.json").write_text(json.dumps({**state.to_json(), "heartbeat_every": 600}), encoding="utf-8")
    (target / "run.log").write_text("training\n", encoding="utf-8")


@pytest.fixture(scope="module")
def http_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_root(tmp_path_factory.mktemp("http"))
    make_active(root)
    for name in PAST:
        shutil.copytree(RUNS / "faults" / f"{name}_ppo_cartpole", root / "past" / name)
    return root


@pytest.fixture(scope="module")
def address(http_root: Path) -> Iterator[str]:
    port, folder = free_port(), http_root.parent
    token = folder / "token"
    token.write_text(f"{TOKEN}\n", encoding="utf-8")
    command = [sys.executable, "-m", "rlclinic", "mcp", "--http", "--name", "gymnasium-solver"]
    server = subprocess.Popen(
        [*command, "--root", str(http_root), "--port", str(port), "--token-file", str(token)],
        env={**os.environ, "RLCLINIC_INDEX": str(folder / "i.sqlite"), "RLCLINIC_LEDGER": str(folder / "t.sqlite")},
        stderr=subprocess.DEVNULL,
    )
    url, until = f"http://127.0.0.1:{port}/mcp", time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert server.poll() is None
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    yield url
    server.terminate()
    server.wait(PATIENCE)


@pytest.fixture(scope="module")
def http(address: str) -> Iterator[Talk]:
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE)
    opened = Talk(streamable_http_client(address, http_client=client), client)
    yield opened
    opened.close()


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_without_the_token_nothing_is_served(address: str, headers: dict[str, str]) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(address, data=b"{}", headers=headers), timeout=PATIENCE)
    refused.value.close()
    assert refused.value.code == 401


def test_a_page_of_another_site_is_refused_even_with_the_token(address: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example", "Content-Type": "application/json"}
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(address, data=b"{}", headers=headers), timeout=PATIENCE)
    refused.value.close()
    assert refused.value.code in (403, 421)


def test_a_port_that_is_taken_is_an_error_before_anything_is_promised(address: str, http_root: Path) -> None:
    port = address.rpartition(":")[2].partition("/")[0]
    command = [sys.executable, "-m", "rlclinic", "mcp", "--http", "--root", str(http_root), "--port", port]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 2
    assert f"port {port} cannot be used" in ended.stderr
    assert "serves" not in ended.stderr


def test_it_may_go_by_the_name_that_existing_agents_expect(http: Talk) -> None:
    assert http.client.server_info.name == "gymnasium-solver"
    assert len(http.wait(http.client.list_tools()).tools) == len(TOOLS)


def test_why_did_my_finished_run_not_solve_the_task(http: Talk) -> None:
    info = http.data("get_run_info", run_id=SOLVER)
    assert (info["status"], info["stopping_reason"]) == ("finished", "completed_normally")
    gap = info["reward_threshold"] - info["metrics_summary"]["train/roll/ep_rew/mean"]
    whole = http.data("comprehensive_diagnostic", run_id=SOLVER)
    assert whole["performance"]["gap_to_threshold"] == pytest.approx(gap) == pytest.approx(311.99)
    assert whole["performance"]["gap_pct"] == pytest.approx(100 * 311.99 / 475, abs=0.01)
    assert whole["trends"]["reward"]["direction"] == "improving"
    logs = http.data("get_run_logs", run_id=SOLVER)
    assert "NOT SOLVED" in logs["log"]
    assert len(http.data("list_checkpoints", run_id=SOLVER)["checkpoints"]) == 5
    beside = http.data("compare_runs", run_ids=[SOLVER, "past/solved"])
    assert beside["winner"] == "solved"
    assert "clip_range" in {item["key"] for item in beside["setting_differences"]}
    told = http.data("diagnose", run_id=SOLVER)
    assert told["verdict"] == "learning"
    assert any(item["code"] == "EVA02" for item in told["findings"]), "the evaluation is of the untrained policy"


def test_my_run_keeps_crashing_what_is_happening(http: Talk) -> None:
    info = http.data("get_run_info", run_id=CRASHED)
    assert (info["status"], info["stopping_reason"]) == ("crashed", "error")
    assert "Batch size must divide rollout size exactly" in http.data("get_run_logs", run_id=CRASHED)["excerpts"][0]
    told = http.data("diagnose", run_id=CRASHED)
    assert (told["verdict"], told["causes"][0]["id"]) == ("crashed", "invalid-config")
    lead = told["prescriptions"][0]
    change = lead["changes"][0]
    assert (lead["priority"], change["key"], change["from"]) == ("critical", "batch_size", 100)
    assert 256 % change["to"] == 0, "the rollout is 256"
    assert lead["native"]["text"] == f"--override batch_size={change['to']}"
    status = http.data("get_training_status", run_id=CRASHED)
    assert (status["running"], status["status"]) == (False, "crashed")


def test_is_my_active_run_going_well(http: Talk) -> None:
    status = http.data("get_training_status", run_id=ACTIVE)
    assert (status["running"], status["source"], status["pid"]) == (True, "tracked", os.getpid())
    steps = 256 * (ROWS_SO_FAR - _val_rows())
    assert status["progress"]["total_env_steps"] == steps
    assert status["progress"]["progress_pct"] == pytest.approx(100 * steps / 20_480, abs=0.01)
    whole = http.data("comprehensive_diagnostic", run_id=ACTIVE)
    assert whole["status"]["is_active"] is True
    assert "progress, not a result" in whole["note"]
    told = http.data("diagnose", run_id=ACTIVE)
    assert told["reason"].startswith("so far")
    assert told["outlook"]["advice"] in ("continue", "stop", "restart")
    assert told["outlook"]["target"] == 475
    waited = http.data("wait_for_training_completion", run_id=ACTIVE, timeout=0.2)
    assert (waited["success"], waited["status"]) == (False, "running")
    trend = http.data("get_metric_trend", run_id=ACTIVE, metric="train/roll/ep_rew_mean")
    assert trend["direction"] == "improving"


def test_how_can_training_converge_faster(http: Talk) -> None:
    history = http.data("get_history", env_id="CartPole-v1", algorithm="PPO")
    assert history["enough"] is True
    assert history["best"][0]["label"] == "solved"
    assert history["best"][0]["final"] == pytest.approx(500, abs=1)
    best = http.data("get_best_run", env_id="CartPole-v1", metric="return/train")
    assert best["best_run"]["run_id"] in ("solved", "fast_lr")
    assert best["best_value"] == pytest.approx(500, abs=5)
    told = http.data("diagnose", run_id="past/high_lr")
    assert told["causes"][0]["id"] == "learning-rate-too-high"
    change = told["prescriptions"][0]["changes"][0]
    assert (change["key"], change["from"]) == ("learning_rate", 0.1)
    assert change["to"] < 0.01
    assert told["prescriptions"][0]["expected_impact"]["basis"] in ("measured", "cited", "guess")
    assert told["prescriptions"][0]["risk"]
    fix = http.data("propose_fix", run_id="past/high_lr", config="past/high_lr/config.yaml")
    assert fix["diff"] or fix["native"], fix
    held = http.data("compare_to_baseline", run_id="past/high_lr", baseline="best_for_env")
    assert held["status"] == "worse"
    assert held["target"]["last"] == pytest.approx(9.34)


def _val_rows() -> int:
    """Rows of evaluations among those that the active run has."""
    with open(RUNS / "gymnasium_solver" / "runs" / SOLVER / "metrics.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:ROWS_SO_FAR]
    return sum(not row["train/cnt/total_env_steps"] for row in rows)
