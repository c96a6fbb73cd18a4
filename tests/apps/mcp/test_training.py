"""Training through the server: started with an id, limited, stopped, and found again by the next server."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest

from rlclinic.apps.mcp.tools.probing import FINISHED
from rlclinic.readers.state import is_alive, read_state
from tests.apps.mcp.talk import PATIENCE, SOLVER, Talk, make_root, stdio, text_of

STEPS = 20_000_000
BUDGET = 2_048


def refused(talk: Talk, overrides: dict[str, Any]) -> str:
    """What is said of overrides that the lab refuses: at once, or on a busy machine when the start is asked after."""
    result = talk.call("start_training", config_id="CartPole-v1:ppo", overrides=overrides)
    if result.is_error:
        return text_of(result)
    job, end = result.structured_content["job_id"], time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = talk.call("get_training_status", run_id=job)
        if result.is_error:
            return text_of(result)
        time.sleep(0.3)
    raise AssertionError(text_of(result))


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
    assert "lerning_rate is no hyperparameter" in refused(second, {"lerning_rate": 0.1})
    second.close()


def test_a_fresh_run_is_trained_to_its_end_and_examined(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    talk = Talk(stdio(root, tmp_path))
    started = talk.data("start_training", config_id="CartPole-v1:ppo", max_env_steps=BUDGET, overrides={"seed": 1})
    assert started["overrides"] == {"seed": 1, "total_steps": BUDGET}
    name = started["job_id"]
    ended = until(talk, "wait_for_training_completion", lambda found: found["status"] != "running", run_id=name)
    assert (ended["success"], ended["status"], ended["completion_reason"]) == (True, "completed", "completed_normally")
    with open(root / "runs" / ended["run_id"] / "metrics.csv", newline="", encoding="utf-8") as file:
        last = [row for row in csv.DictReader(file) if row["train/roll/ep_rew/mean"]][-1]
    info = talk.data("get_run_info", run_id="@last")
    assert (info["run_id"], info["framework"], info["status"]) == (ended["run_id"], "rlclinic", "finished")
    assert info["env_steps"] == float(last["train/cnt/total_env_steps"]) >= BUDGET
    summary = info["metrics_summary"]
    assert summary["train/roll/ep_rew/mean"] == pytest.approx(float(last["train/roll/ep_rew/mean"]), rel=1e-4)
    assert summary["val/roll/ep_rew/mean"] > 0
    whole = talk.data("comprehensive_diagnostic", run_id="@last")
    assert (whole["status"]["is_active"], whole["progress"]["progress_pct"]) == (False, 100)
    assert whole["performance"]["gap_metric"] == "val/roll/ep_rew/mean"
    saved = talk.data("list_checkpoints", run_id="@last")
    assert (saved["has_best"], saved["has_last"]) == (True, True)
    assert "evaluation return" in talk.data("get_run_logs", run_id="@last")["log"]
    assert ended["run_id"] in {run["run_id"] for run in talk.data("list_runs")["runs"]}
    talk.close()


def test_an_examination_is_polled_by_its_id(tmp_path: Path) -> None:
    talk = Talk(stdio(make_root(tmp_path), tmp_path))
    started = talk.data("examine_environment", environment="NoSuchTask-v0", budget_seconds=1)
    assert started["job_id"].startswith("examine-")
    ended = until(talk, "examine_environment", lambda found: found["status"] != "running", job_id=started["job_id"])
    assert "no environment is called" in ended["message"]
    talk.close()


def test_a_probing_is_polled_by_its_id(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    (root / "mine.py").write_text("make_trainer = 7\n", encoding="utf-8")
    talk = Talk(stdio(root, tmp_path, "--trainer", "mine:make_trainer"))
    assert "--trainer mine:other" in talk.error("probe_trainer", trainer="mine:other")
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


@pytest.mark.slow
def test_trials_and_probings_are_stopped_by_their_ids_and_make_room(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    talk = Talk(stdio(root, tmp_path, "--jobs", "1"))
    trial = talk.data("start_trial", run_id=SOLVER, changes={"policy_lr": 0.01}, seeds=2, budget=STEPS)["trial_id"]
    assert "1 of at most 1 jobs run already" in talk.error("probe_trainer", trainer="sb3:PPO")
    assert "is a trial, not a run. call trial_status" in talk.error("diagnose", run_id=trial)
    begun = until(talk, "trial_status", lambda found: found["status"] == "running", trial_id=trial)
    assert (begun["runs_done"], begun["runs_total"], begun["verdict"]) == (0, 4, None)
    assert begun["arms"][0]["effects"] == [], "nothing is measured yet"
    assert not any("could not be proved" in note for note in begun["notes"])
    assert talk.data("stop_training", run_id=trial)["success"] is True
    ended = talk.data("trial_status", trial_id=trial)
    assert ended["status"] == "ended"
    assert "it was stopped" in ended["message"]
    assert not any(worker_is_alive(path) for path in (root / "runs" / "trials").glob("*/*/status.json"))
    probing = talk.data("probe_trainer", trainer="torchrl:PPO")["job_id"]
    # A process that still imports torch ends later than an answer waits; it says to call again.
    until(talk, "stop_training", lambda found: "not yet" not in found["message"], run_id=probing)
    # One that is busy importing may be done before it hears of it.
    assert talk.data("probe_trainer", job_id=probing)["message"] in ("it was stopped", FINISHED)
    assert talk.data("stop_training", run_id=probing)["success"] is False
    talk.close()


def worker_is_alive(status: Path) -> bool:
    state = read_state(status)
    return state is not None and bool(is_alive(state))
