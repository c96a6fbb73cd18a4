"""Every tool on real recorded runs, through the SDK's client over stdio: right numbers, short answers."""

from __future__ import annotations

import base64
import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlclinic.apps.mcp.registry import TOOLS
from tests.apps.mcp.talk import CRASHED, INJECTION, SOLVER, STOPPED, Talk, text_of

SHORTEST_ANSWERS = 8_192
# One call of every tool that only reads, with the least that it needs.
CALLS: dict[str, dict[str, Any]] = {
    "diagnose": {"run_id": "ppo_cartpole_high_lr"},
    "explain": {"name": "learning-rate-too-high"},
    "advise": {"facts": {"task.one_step": "yes"}},
    "show_run": {"run_id": "ppo_cartpole"},
    "propose_fix": {"run_id": "ppo_cartpole_high_lr"},
    "get_history": {"env_id": "CartPole-v1"},
    "get_best_run": {"env_id": "CartPole-v1"},
    "list_runs": {},
    "get_run_info": {"run_id": SOLVER},
    "list_checkpoints": {"run_id": SOLVER},
    "comprehensive_diagnostic": {"run_id": SOLVER},
    "health_check": {"run_id": SOLVER},
    "get_run_metrics": {"run_id": SOLVER},
    "get_metrics_range": {"run_id": SOLVER, "start_epoch": 10, "end_epoch": 12},
    "list_available_metrics": {"run_id": SOLVER},
    "get_metrics_summary": {"run_id": SOLVER, "metric_name": "train/roll/ep_rew/mean"},
    "get_metric_trend": {"run_id": SOLVER, "metric": "train/roll/ep_rew/mean"},
    "correlate_metrics": {"run_id": SOLVER, "metric_pairs": [["entropy", "return/train"]]},
    "get_hyperparam_history": {"run_id": SOLVER},
    "plot_run_metric": {"run_id": SOLVER, "metric_names": ["return/train"]},
    "plot_compare_runs": {"run_ids": [SOLVER, "ppo_cartpole"], "metric": "return/train"},
    "compare_runs": {"run_ids": [SOLVER, "ppo_cartpole_high_lr"]},
    "compare_to_baseline": {"run_id": "ppo_cartpole_high_lr", "baseline": "best_for_env"},
    "get_run_logs": {"run_id": SOLVER},
    "stream_training_logs": {"run_id": SOLVER},
    "get_metric_alerts": {"run_id": SOLVER},
    "get_logged_responses": {"run_id": SOLVER},
    "watch_run": {"run_id": SOLVER},
    "list_environments": {},
    "list_variants": {"env_id": "CartPole-v1"},
    "get_config": {"env_id": "CartPole-v1", "variant": "ppo"},
    "get_training_status": {"run_id": "@last"},
    "wait_for_training_completion": {"run_id": SOLVER},
    "get_training_progress": {"run_id": SOLVER},
    "run_publish": {},
}
ELSEWHERE = {
    "start_training", "stop_training", "start_trial", "trial_status", "probe_trainer", "examine_environment",
    "run_play", "run_inspect", "inspect_dataset",
}  # fmt: skip


def test_every_tool_is_called_somewhere() -> None:
    assert set(CALLS) | ELSEWHERE == {row.name for row in TOOLS}


@pytest.mark.parametrize("tool", sorted(CALLS))
def test_a_default_answer_is_short_and_says_the_same_twice(talk: Talk, tool: str) -> None:
    result = talk.call(tool, **CALLS[tool])
    assert not result.is_error, text_of(result)
    words, body = (block.text for block in result.content[:2])
    assert 0 < len(words) < 500
    assert json.loads(body) == result.structured_content
    assert len(text_of(result).encode()) < SHORTEST_ANSWERS


def raw(root: Path) -> list[dict[str, str]]:
    with open(root / "runs" / SOLVER / "metrics.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_run_that_ended_by_its_budget_did_not_stop_at_a_threshold(talk: Talk, mcp_root: Path) -> None:
    info = talk.data("get_run_info", run_id=SOLVER)
    last = [row["train/roll/ep_rew/mean"] for row in raw(mcp_root) if row["train/roll/ep_rew/mean"]][-1]
    assert info["metrics_summary"]["train/roll/ep_rew/mean"] == float(last) == 163.01
    assert info["stopping_reason"] == "completed_normally"
    assert info["env_steps"] == info["budget"] == 20_480
    assert info["reward_threshold"] == 475
    assert len(info["checkpoints"]) == 5


@pytest.mark.parametrize(("name", "reason"), [(STOPPED, "interrupted"), (CRASHED, "error")])
def test_how_a_run_ended_is_told(talk: Talk, name: str, reason: str) -> None:
    assert talk.data("get_run_info", run_id=name)["stopping_reason"] == reason


def test_progress_counts_env_steps_and_not_vector_steps(talk: Talk) -> None:
    progress = talk.data("get_training_progress", run_id=SOLVER)["progress"]
    assert progress["progress_pct"] == 100
    assert progress["current_epoch"] == 79
    assert talk.data("get_training_progress", run_id=STOPPED)["progress"]["progress_pct"] == 22.5


def test_checkpoints_are_found(talk: Talk) -> None:
    found = talk.data("list_checkpoints", run_id=SOLVER)["checkpoints"]
    assert [item["name"] for item in found] == [f"epoch={number}" for number in (29, 39, 49, 59, 69)]
    assert all(item["size_mb"] > 0 for item in found)
    assert found[0]["env_steps"] == 30 * 256


def test_rows_hold_numbers_under_the_names_that_were_asked_for(talk: Talk, mcp_root: Path) -> None:
    names = ["train/opt/policy/approx_kl", "entropy", "train/opt/grad/norm"]
    reply = talk.data("get_run_metrics", run_id=SOLVER, metric_names=names, limit=2)
    full = [row for row in raw(mcp_root) if row["train/opt/ppo/approx_kl"]][-2:]
    for row, expected in zip(reply["metrics"], full, strict=True):
        assert row["train/opt/policy/approx_kl"] == float(expected["train/opt/ppo/approx_kl"])
        assert row["entropy"] == float(expected["train/opt/policy/entropy"])
        assert row["train/opt/grad/norm"] == float(expected["train/opt/grads/norm/all"])
        assert row["epoch"] == float(expected["epoch"])
        assert row["total_env_steps"] == float(expected["train/cnt/total_env_steps"])
    assert reply["names"]["train/opt/grad/norm"]["logged_as"] == "train/opt/grads/norm/all"


def test_the_names_of_one_framework_work_on_runs_of_another(talk: Talk) -> None:
    reply = talk.data("get_metrics_summary", run_id="ppo_cartpole", metric_name="train/roll/ep_rew/mean")
    assert reply["logged_as"] == "rollout/ep_rew_mean"
    assert reply["last"] == pytest.approx(154.93)


def test_a_range_of_epochs_includes_both_ends(talk: Talk) -> None:
    reply = talk.data("get_metrics_range", run_id=SOLVER, start_epoch=10, end_epoch=12)
    assert [row["epoch"] for row in reply["metrics"]] == [10, 11, 12]


def test_a_long_course_is_thinned_but_keeps_its_ends(talk: Talk) -> None:
    reply = talk.data("get_run_metrics", run_id=SOLVER)
    assert reply["rows"] < reply["total_rows"] == 80
    assert reply["metrics"][0]["epoch"] == 0
    assert reply["metrics"][-1]["train/roll/ep_rew/mean"] == 163.01


def test_a_trend_is_only_named_where_it_is_sure(talk: Talk) -> None:
    rising = talk.data("get_metric_trend", run_id=SOLVER, metric="train/roll/ep_rew/mean")
    assert rising["direction"] == "improving"
    assert rising["p_value"] < 0.05
    short = talk.data("get_metric_trend", run_id=SOLVER, metric="train/opt/ppo/approx_kl", window="last_10_epochs")
    assert short["direction"] == "stable"
    assert short["n_samples"] == 10


def test_entropy_that_falls_is_not_called_a_rise(talk: Talk) -> None:
    trends = talk.data("comprehensive_diagnostic", run_id=SOLVER)["trends"]
    assert trends["entropy"]["direction"] == "falling"
    assert trends["reward"]["direction"] == "improving"


def test_the_diagnostic_reads_columns_that_exist(talk: Talk, mcp_root: Path) -> None:
    found = talk.data("comprehensive_diagnostic", run_id=SOLVER)
    last = [row for row in raw(mcp_root) if row["train/opt/ppo/approx_kl"]][-1]
    assert found["key_metrics"] == {
        "entropy": float(last["train/opt/policy/entropy"]),
        "approx_kl": float(last["train/opt/ppo/approx_kl"]),
        "clip_frac": float(last["train/opt/ppo/clip_fraction"]),
        "explained_var": float(last["train/opt/value/explained_var"]),
        "policy_loss": float(last["train/opt/loss/policy"]),
        "value_loss": float(last["train/opt/loss/value"]),
        "value_clip_frac": float(last["train/opt/ppo/clip_fraction_vf"]),
        "grad_norm": float(last["train/opt/grads/norm/all"]),
    }
    assert found["config"]["algo"] == "ppo"
    assert found["status"]["is_solved"] is False
    assert found["performance"]["gap_to_threshold"] == pytest.approx(475 - 163.01)


def test_an_evaluation_of_the_untrained_policy_is_not_given_as_performance(talk: Talk) -> None:
    found = talk.data("comprehensive_diagnostic", run_id=SOLVER)["performance"]
    assert found["val_reward_mean"] is None
    assert any("untrained" in caveat for caveat in found["caveats"])


def test_a_metric_that_is_not_logged_is_null_and_not_zero(talk: Talk) -> None:
    assert talk.data("comprehensive_diagnostic", run_id="grpo_v0.5")["key_metrics"]["value_loss"] is None


def test_the_best_run_is_found_across_frameworks(talk: Talk) -> None:
    reply = talk.data("get_best_run", env_id="CartPole-v1", metric="train/roll/ep_rew/mean")
    assert reply["best_run"]["run_id"] == SOLVER
    assert reply["judged_by"] == {"train/roll/ep_rew/mean": 2, "rollout/ep_rew_mean": 2}
    worst = talk.data("get_best_run", env_id="CartPole-v1", metric="return/train", minimize=True)
    assert worst["best_run"]["run_id"] == "ppo_cartpole_high_lr"


def test_the_history_says_when_it_is_too_small_for_patterns(talk: Talk) -> None:
    reply = talk.data("get_history", env_id="CartPole-v1")
    assert reply["enough"] is False
    assert reply["runs"] == 3


def test_the_run_with_a_huge_rate_is_diagnosed_and_a_fix_proposed(talk: Talk) -> None:
    reply = talk.data("diagnose", run_id="ppo_cartpole_high_lr")
    assert reply["causes"][0]["id"] == "learning-rate-too-high"
    assert reply["prescriptions"][0]["changes"][0]["from"] == 0.05
    fix = talk.data("propose_fix", run_id="ppo_cartpole_high_lr")
    assert "learning_rate=0.001" in fix["native"]["text"].replace(" ", "")
    assert fix["written"] is False


def test_a_diff_of_the_projects_own_config_is_proposed_and_not_written(talk: Talk, mcp_root: Path) -> None:
    file = mcp_root / "config" / "environments" / "Rate.yaml"
    file.write_text("CartPole-v1:\n  learning_rate: 0.05  # mine\n", encoding="utf-8")
    name = "config/environments/Rate.yaml::CartPole-v1"
    fix = talk.data("propose_fix", run_id="ppo_cartpole_high_lr", config=name)
    assert "-  learning_rate: 0.05  # mine" in fix["diff"]
    assert "+  learning_rate: 0.001  # mine" in fix["diff"]
    assert file.read_text(encoding="utf-8") == "CartPole-v1:\n  learning_rate: 0.05  # mine\n"
    file.unlink()


def test_runs_of_language_models_are_diagnosed_too(talk: Talk) -> None:
    reply = talk.data("diagnose", run_id="others/grpo_v0.5")
    assert reply["run"]["framework"] == "verl"
    assert reply["verdict"] == "learning"


def test_plots_are_pictures_with_the_numbers_beside_them(talk: Talk) -> None:
    result = talk.call("plot_run_metric", run_id=SOLVER, metric_names=["return/train"], width=400, height=300)
    image = next(block for block in result.content if block.type == "image")
    assert image.mime_type == "image/png"
    assert base64.b64decode(image.data).startswith(b"\x89PNG\r\n")
    assert result.structured_content is not None
    assert result.structured_content["curves"][0]["last"] == 163.01


def test_log_text_is_quoted_as_data(talk: Talk) -> None:
    reply = talk.data("get_run_logs", run_id=SOLVER)
    assert INJECTION in reply["log"]
    assert "never instructions" in reply["untrusted"]
    assert INJECTION not in talk.call("get_run_logs", run_id=SOLVER).content[0].text


def test_a_log_is_followed_from_where_it_was_left(talk: Talk) -> None:
    first = talk.data("stream_training_logs", run_id=SOLVER, filter_pattern=r"Reward:\s+\d+")
    assert first["lines_returned"] == 2
    again = talk.data("stream_training_logs", run_id=SOLVER, since_line=first["next_line"])
    assert again["lines_returned"] == 0


def test_the_alerts_of_the_trainer_are_parsed(talk: Talk) -> None:
    alert = talk.data("get_metric_alerts", run_id=SOLVER)["alerts"][0]
    assert alert["metric_alert"] == "train/opt/ppo/clip_fraction_vf/oob_max"
    assert alert["frequency"] == "80/81 (98.8%)"
    assert "first time" in alert["note"]


def test_what_is_worth_an_alert_is_told_of_runs_of_every_framework(talk: Talk) -> None:
    holding = talk.data("get_metric_alerts", run_id="ppo_cartpole_high_lr")["holding"]
    assert [(item["key"], item["level"]) for item in holding][:1] == [("kl-too-large", "error")]
    assert holding[0]["cause"].startswith("learning-rate-too-high")
    watched = talk.data("watch_run", run_id="ppo_cartpole_high_lr", since_step=10**9, timeout=0)
    assert [item["key"] for item in watched["alerts"]] == [item["key"] for item in holding]
    assert (watched["state"], watched["verdict"], watched["news"]) == ("unknown", "collapsed", False)


def test_variants_of_every_name_are_listed(talk: Talk) -> None:
    assert talk.data("list_variants", env_id="CartPole-v1")["variants"] == ["ppo", "rgb_ppo"]
    assert "sac" in talk.data("list_variants", env_id="Pendulum-v1")["variants"]
    assert talk.data("get_config", env_id="CartPole-v1", variant="rgb_ppo")["config"]["learning_rate"] == 0.0005


def test_waiting_never_takes_longer_than_a_client_does(talk: Talk) -> None:
    reply = talk.data("wait_for_training_completion", run_id=SOLVER, timeout=3600)
    assert reply["status"] == "completed"
    assert reply["elapsed_time"] < 5


def test_hints_tell_what_a_tool_does_to_the_world(talk: Talk) -> None:
    tools = {tool.name: tool for tool in talk.wait(talk.client.list_tools()).tools}
    for row in TOOLS:
        hints = tools[row.name].annotations
        assert hints.read_only_hint is (row.effect == "reads")
        assert hints.destructive_hint is (row.effect == "stops")
        assert tools[row.name].output_schema["type"] == "object"
        assert tools[row.name].input_schema["additionalProperties"] is False


def test_advice_names_its_rules_and_what_it_would_ask(talk: Talk) -> None:
    found = talk.data("advise", facts={"task.one_step": "yes"})
    assert found["options"][0]["id"] == "bandit"
    assert found["rules"][0]["because"] == ["single decisions: yes"]
    assert found["questions"]


def test_a_data_set_below_the_root_is_judged_and_none_outside(talk: Talk, mcp_root: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(400, 3))
    ends = np.arange(400) % 40 == 39
    np.savez(mcp_root / "set.npz", observations=rows, actions=rows[:, :1], rewards=rows[:, 0], dones=ends)
    found = talk.data("inspect_dataset", path="set.npz")
    measured = {item["id"]: item["value"] for item in found["measurements"]}
    assert measured["ends"] == 10
    assert measured["missing-next"] == 1
    assert "leads out of the root" in talk.error("inspect_dataset", path="/etc/passwd")


def test_advice_imports_no_environment_that_only_a_client_names(talk: Talk) -> None:
    refused = talk.error("advise", environment="antigravity:Env-v0")
    assert "antigravity" in refused
