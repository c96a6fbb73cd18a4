"""Every question about one run, put to a run of every framework: short answers that claim nothing they cannot know."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.apps.mcp.talk import RUNS, Talk, stdio, text_of
from tests.apps.mcp.test_tools import SHORTEST_ANSWERS

# One run of each framework, by its place among the recorded ones.
PLACES = {
    "cleanrl": "cleanrl/ppo_cartpole/runs/CartPole-v1__ppo__7__1794981335",
    "d3rlpy": "d3rlpy/cql_cartpole_offline",
    "gymnasium-solver": "gymnasium_solver/runs/local-20260115-103000",
    "mlagents": "mlagents/results/pendulum01",
    "nemo-rl": "nemo_rl/grpo",
    "openai-baselines": "baselines/ppo2",
    "openrlhf": "openrlhf/grpo",
    "prime-rl": "prime_rl/grpo",
    "rlclinic": "faults/forgetting_ppo_cartpole",
    "rllib": "rllib/ppo_cartpole",
    "rsl_rl": "rsl_rl/cartpole",
    "sample-factory": "sample_factory/train_dir/cartpole",
    "sb3": "sb3/sac_pendulum",
    "sb3-zoo": "zoo/ppo_cartpole/logs/ppo/CartPole-v1_1",
    "search-r1": "search_r1/grpo",
    "skrl": "skrl/ppo_cartpole",
    "slime": "slime/grpo",
    "spinningup": "spinningup/ppo/ppo_s0",
    "tianshou": "tianshou/dqn_cartpole/log/CartPole-v1/dqn",
    "torchrl": "torchrl/ppo_pendulum_tb",
    "trl": "faults/hasty_grpo_tiny",
    "verl": "verl/grpo_v0.5",
}
QUESTIONS: dict[str, dict[str, Any]] = {
    "diagnose": {},
    "show_run": {},
    "propose_fix": {},
    "get_run_info": {},
    "list_checkpoints": {},
    "comprehensive_diagnostic": {},
    "health_check": {},
    "get_run_metrics": {},
    "get_metrics_range": {"start_epoch": 0, "end_epoch": 5},
    "list_available_metrics": {},
    "get_hyperparam_history": {},
    "get_run_logs": {},
    "get_training_status": {},
    "get_training_progress": {},
    "wait_for_training_completion": {},
}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    folder = tmp_path_factory.mktemp("frameworks")
    for place in PLACES.values():
        shutil.copytree(RUNS / place, folder / "project" / place)
    opened = Talk(stdio(folder / "project", folder))
    yield opened
    opened.close()


@pytest.mark.parametrize("framework", sorted(PLACES))
def test_a_run_of_any_framework_gets_short_answers(many: Talk, framework: str) -> None:
    place = PLACES[framework]
    assert many.data("get_run_info", run_id=place)["framework"] == framework
    for tool, more in QUESTIONS.items():
        result = many.call(tool, run_id=place, **more)
        told = text_of(result)
        assert not result.is_error, (tool, told)
        assert len(told.encode()) < SHORTEST_ANSWERS, tool
        assert "frameworks0/project" not in told, tool


def test_the_tools_of_all_runs_know_every_framework(many: Talk) -> None:
    found = many.data("list_runs", limit=200)["runs"]
    assert {run["framework"] for run in found} == set(PLACES)
    best = many.data("get_best_run", env_id="CartPole-v1", metric="return/train")
    assert sum(best["judged_by"].values()) >= 7
    assert (best["best_run"]["framework"], best["best_value"]) == ("cleanrl", 346)
    assert many.data("get_history", env_id="CartPole-v1")["runs"] >= 5


@pytest.mark.parametrize("framework", ["nemo-rl", "trl", "search-r1"])
def test_updates_are_not_called_env_steps(many: Talk, framework: str) -> None:
    place = PLACES[framework]
    progress = many.data("get_training_progress", run_id=place)["progress"]
    assert (progress["total_env_steps"], progress["max_env_steps"]) == (None, None)
    assert progress["step_axis"] == "updates"
    assert progress["budget"] > 0
    assert progress["progress_pct"] == pytest.approx(min(100, 100 * progress["steps"] / progress["budget"]), abs=0.01)
    row = many.data("get_run_metrics", run_id=place)["metrics"][-1]
    assert 0 < row["updates"] <= progress["steps"]
    assert "total_env_steps" not in row


def test_a_run_whose_end_nothing_tells_is_neither_running_nor_completed(many: Talk) -> None:
    place = PLACES["prime-rl"]
    assert many.data("get_training_status", run_id=place)["running"] is None
    waited = many.data("wait_for_training_completion", run_id=place)
    assert (waited["success"], waited["status"]) == (False, "unknown")
    whole = many.data("comprehensive_diagnostic", run_id=place)
    assert whole["status"]["is_active"] is None
    assert whole["progress"]["remaining_seconds_estimate"] is None
    assert "not known" in whole["note"]


@pytest.mark.parametrize("framework", ["search-r1", "d3rlpy"])
def test_a_run_that_was_judged_too_early_is_not_called_healthy(many: Talk, framework: str) -> None:
    whole = many.data("comprehensive_diagnostic", run_id=PLACES[framework])["status"]
    assert whole["verdict"] in ("interrupted", "insufficient-data")
    assert whole["health"] == "unknown"
    assert many.data("health_check", run_id=PLACES[framework])["is_healthy"] is None


def test_many_metrics_are_paged_to_the_last(many: Talk) -> None:
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = many.data("list_available_metrics", run_id=PLACES["rllib"], offset=offset)
        assert "left_out" not in page
        assert sorted(name for group in page["grouped"].values() for name in group) == sorted(page["metrics"])
        seen += page["metrics"]
        offset = page["next_offset"]
    assert len(seen) == len(set(seen)) == page["total_metrics"] > 100
    first = many.data("list_available_metrics", run_id=PLACES["rllib"])
    assert first["details"][0]["metric"] == "return/train", "what rlclinic knows comes first"
    assert "evaluation/env_runners/episode_return_mean" in first["grouped"]["val"]


def test_the_gap_is_that_of_an_evaluation_that_can_be_believed(many: Talk) -> None:
    zoo = many.data("comprehensive_diagnostic", run_id=PLACES["sb3-zoo"])["performance"]
    assert zoo["gap_metric"] == "eval/mean_reward"
    assert zoo["gap_to_threshold"] == zoo["reward_threshold"] - zoo["val_reward_mean"] == 318
    solver = many.data("comprehensive_diagnostic", run_id=PLACES["gymnasium-solver"])["performance"]
    assert solver["gap_metric"] == "train/roll/ep_rew/mean"


def test_an_evaluation_of_the_untrained_policy_is_no_last_value_anywhere(many: Talk) -> None:
    place = PLACES["gymnasium-solver"]
    assert "val/roll/ep_rew/mean" not in many.data("get_run_info", run_id=place)["metrics_summary"]
    beside = many.data("compare_runs", run_ids=[place, PLACES["sb3-zoo"]])["comparison"]
    assert beside[place]["return/eval"] is None
    assert beside[PLACES["sb3-zoo"]]["return/eval"] == 157


def test_a_hyperparameter_is_found_by_the_name_of_another_framework(many: Talk) -> None:
    found = many.data("get_hyperparam_history", run_id=PLACES["rlclinic"], params=["policy_lr"])["summary"]["policy_lr"]
    assert found["configured"] == 0.03
    assert found["n_samples"] > 0


def test_the_budget_that_was_in_force_is_told_and_not_the_configured_one(many: Talk) -> None:
    whole = many.data("comprehensive_diagnostic", run_id=PLACES["sb3-zoo"])
    assert whole["config"]["max_env_steps"] == whole["progress"]["max_env_steps"] == 20_000


def test_plots_of_runs_of_different_frameworks_share_an_axis(many: Talk) -> None:
    names = [PLACES[framework] for framework in ("cleanrl", "rllib", "sample-factory")]
    result = many.call("plot_compare_runs", run_ids=names, metric="return/train", x_axis="total_env_steps")
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    assert result.structured_content["x_axis"] == "env steps"
    assert any(block.type == "image" for block in result.content)
