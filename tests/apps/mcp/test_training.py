"""Training through the server: started with an id, limited, stopped, and found again by the next server."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.apps.mcp.talk import PATIENCE, SOLVER, Talk, make_root, stdio

STEPS = 20_000_000


def until(talk: Talk, tool: str, wanted: Any, **arguments: Any) -> dict[str, Any]:
    """Poll a tool until it says what is wanted."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = talk.data(tool, **arguments)
        if wanted(found):
            return found
        time.sleep(0.3)
    raise AssertionError(found)


def test_a_training_outlives_its_server_and_is_stopped_by_the_next_one(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    first = Talk(stdio(root, tmp_path, "--jobs", "1"))
    started = first.data(
        "start_training",
        config_id="CartPole-v1:ppo",
        max_env_steps=STEPS,
        overrides={"policy_lr": 3e-5, "seed": 7, "n_envs": 2},
    )
    assert started["success"] is True
    name = started["run_id"] or started["job_id"]
    assert "1 of at most 1 jobs run already" in first.error("start_training", config_id="CartPole-v1:ppo")
    waited = first.data("wait_for_training_completion", run_id=name, timeout=0.5)
    assert waited["status"] == "running"
    first.close()

    second = Talk(stdio(root, tmp_path))
    status = until(second, "get_training_status", lambda found: found["progress"] is not None, run_id=started["job_id"])
    assert status["running"] is True
    assert status["pid"] == started["pid"]
    run_id = status["run_id"]
    config = json.loads((root / "runs" / run_id / "config.json").read_text(encoding="utf-8"))
    assert (config["learning_rate"], config["seed"], config["n_envs"]) == (3e-5, 7, 2)
    assert config["total_steps"] == STEPS
    stopped = second.data("stop_training", run_id=run_id)
    assert stopped["success"] is True, stopped
    info = second.data("get_run_info", run_id=run_id)
    assert (info["status"], info["framework"]) == ("interrupted", "rlclinic")
    assert second.data("stop_training", run_id=run_id)["success"] is False
    assert "unknown hyperparameter" in second.error(
        "start_training", config_id="CartPole-v1:ppo", overrides={"lerning_rate": 0.1}
    )
    second.close()


def test_a_probing_is_polled_by_its_id(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    (root / "mine.py").write_text("make_trainer = 7\n", encoding="utf-8")
    talk = Talk(stdio(root, tmp_path))
    started = talk.data("probe_trainer", trainer="mine:make_trainer", only=["P1"])
    assert started["job_id"].startswith("probe-")
    ended = until(talk, "probe_trainer", lambda found: found["status"] != "running", job_id=started["job_id"])
    assert "not callable" in ended["message"]
    talk.close()


@pytest.mark.slow
def test_a_trial_is_started_polled_and_judged(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    talk = Talk(stdio(root, tmp_path))
    started = talk.data("start_trial", run_id=SOLVER, changes={"policy_lr": 0.01}, seeds=1, budget=512)
    over = ("finished", "ended")
    ended = until(talk, "trial_status", lambda found: found["status"] in over, trial_id=started["trial_id"])
    assert ended["status"] == "finished"
    assert ended["runs_done"] == 2
    assert ended["arms"][0]["changes"] == [{"key": "learning_rate", "from": 0.001, "to": 0.01}]
    assert ended["verdict"] == "inconclusive", "one seed decides nothing"
    assert talk.data("trial_status", trial_id=ended["ledger_id"])["verdict"] == ended["verdict"]
    assert talk.data("trial_status")["ledger_id"] == ended["ledger_id"]
    talk.close()
