"""What a tool says when it cannot answer: what is wrong, and what to call instead."""

from __future__ import annotations

from typing import Any

import pytest

from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.lab.recipe import FIELDS
from rlclinic.lab.values import is_setting
from rlclinic.model.config import Setting
from rlclinic.readers.configs.normalise import canonical_settings
from rlclinic.reference.framework import framework
from rlclinic.reference.hyperparameters import hyperparameters
from tests.apps.mcp.talk import CRASHED, SECRET, SOLVER, Talk

# tool, arguments, words that must be said
WRONG: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("diagnose", {"run_id": "nope"}, ("no run is called 'nope'", "list_runs")),
    ("explain", {"name": "learning-rate-to-high"}, ("did you mean learning-rate-too-high",)),
    ("show_run", {"run_id": "others"}, ("fits 3 runs", "others/ppo_cartpole")),
    ("propose_fix", {"run_id": SOLVER, "prescription": 99}, ("no prescription 99",)),
    ("propose_fix", {"run_id": SOLVER, "config": "../outside/secret.txt"}, ("leads out of the root",)),
    ("start_trial", {"run_id": "nope"}, ("no run is called", "list_runs")),
    ("start_trial", {"run_id": SOLVER, "seeds": 0}, ("seeds = 0", "between 1 and 20")),
    ("start_trial", {"run_id": SOLVER, "changes": {"env_id": "x"}}, ("not overridden", "another config_id or run")),
    ("trial_status", {"trial_id": "0123456789"}, ("no trial", "start_trial")),
    ("probe_trainer", {"trainer": "os:system"}, ("not imported for a caller", "--trainer os:system")),
    ("probe_trainer", {"trainer": "rm -rf /"}, ("is no trainer", "sb3:PPO", "torchrl:SAC")),
    ("probe_trainer", {"job_id": "probe-20260101-000000-abcd"}, ("no probing",)),
    ("examine_environment", {"environment": "os:system"}, ("is no registered environment", "CartPole-v1")),
    ("examine_environment", {}, ("no environment is named",)),
    ("examine_environment", {"environment": "CartPole-v1", "budget_seconds": 0}, ("budget_seconds",)),
    ("examine_environment", {"job_id": "examine-20260101-000000-abcd"}, ("no examination",)),
    ("run_play", {"run_id": SOLVER}, ("is a pickle, which is not opened",)),
    ("run_play", {"config_id": "CartPole-v1:ppo"}, ("only the policy of a run is played", "run_id")),
    ("advise", {"environment": "antigravity:Env-v0"}, ("antigravity",)),
    ("inspect_dataset", {"path": "nothing.npz"}, ("no such file",)),
    ("watch_run", {"run_id": "no_such_run"}, ("no_such_run", "list_runs")),
    ("get_history", {"env_id": "Nowhere-v0"}, ("no run of Nowhere-v0", "list_runs")),
    ("get_best_run", {"env_id": "Nowhere-v0"}, ("no run of 'Nowhere-v0'", "CartPole-v1")),
    ("list_runs", {"limit": "many"}, ("limit",)),
    ("get_run_info", {}, ("run_id is missing", "get_run_info takes run_id (required)")),
    ("get_run_info", {"run_id": SOLVER, "verbose": True}, ("verbose is no parameter of this tool", "takes run_id")),
    ("list_checkpoints", {"run_id": "local-"}, ("fits 3 runs",)),
    ("comprehensive_diagnostic", {"run_id": ""}, ("no name of a file or run", "list_runs")),
    ("health_check", {"run_id": "runs/none"}, ("no such run", "list_runs")),
    ("get_run_metrics", {"run_id": SOLVER, "metric_names": ["train/roll/ep_rw"]}, ("near are train/roll/ep_rew/mean",)),
    ("get_metrics_range", {"run_id": SOLVER, "start_epoch": 5, "end_epoch": 1}, ("lies behind",)),
    ("list_available_metrics", {"run_id": "wandb://a/b/c"}, ("other machines",)),
    ("get_metrics_summary", {"run_id": SOLVER, "metric_name": "q/mean"}, ("no metric 'q/mean'", "list_available")),
    ("get_metric_trend", {"run_id": SOLVER, "metric": "entropy", "window": "lately"}, ("last_N_epochs",)),
    ("correlate_metrics", {"run_id": SOLVER, "metric_pairs": []}, ("no pair",)),
    (
        "get_hyperparam_history",
        {"run_id": SOLVER, "params": ["taste"]},
        ("neither logs nor configures", "get_run_info"),
    ),
    ("plot_run_metric", {"run_id": SOLVER, "metric_names": []}, ("between 1 and 7",)),
    ("plot_run_metric", {"run_id": SOLVER, "metric_names": ["entropy"], "x_axis": "taste"}, ("total_env_steps",)),
    ("plot_compare_runs", {"run_ids": [SOLVER], "metric": "nope"}, ("no metric 'nope'",)),
    ("compare_runs", {"run_ids": []}, ("no run is named", "list_runs")),
    (
        "compare_to_baseline",
        {"run_id": "others/grpo_v0.5", "baseline": "best_for_env"},
        ("does not name its environment",),
    ),
    ("get_run_logs", {"run_id": "nope"}, ("list_runs",)),
    ("get_logged_responses", {"run_id": "nope"}, ("list_runs",)),
    ("stream_training_logs", {"run_id": SOLVER, "filter_pattern": "(["}, ("no regular expression",)),
    ("stream_training_logs", {"run_id": SOLVER, "filter_pattern": "(a|a)*" * 80}, ("480 characters",)),
    ("get_metric_alerts", {"run_id": "nope"}, ("list_runs",)),
    ("list_environments", {"filter": 7}, ("filter",)),
    ("list_variants", {"env_id": "Nowhere-v0"}, ("no configuration", "list_environments")),
    ("get_config", {"env_id": "CartPole-v1", "variant": "reinforce"}, ("has no variant", "ppo, rgb_ppo")),
    ("start_training", {"config_id": "CartPole-v1"}, ("is no config_id", "CartPole-v1:ppo")),
    ("start_training", {"config_id": "os:path:ppo"}, ("no configuration",)),
    ("start_training", {"config_id": "CartPole-v1:sh"}, ("has no variant", "list_variants")),
    (
        "start_training",
        {"config_id": "CartPole-v1:ppo", "overrides": {"env_wrappers": "os:system"}},
        ("not overridden",),
    ),
    ("start_training", {"config_id": "CartPole-v1:ppo", "overrides": {"--root": "/"}}, ("is no hyperparameter",)),
    ("start_training", {"config_id": "CartPole-v1:ppo", "max_env_steps": 0}, ("at least 1",)),
    ("stop_training", {"run_id": SOLVER}, ("no run that rlclinic trains", "get_training_status")),
    ("get_metrics_summary", {"run_id": CRASHED, "metric_name": "reward"}, ("no metric at all", "show_run")),
    ("get_training_status", {"run_id": "training-20260101-000000-abcd"}, ("list_runs",)),
    ("wait_for_training_completion", {"run_id": "nope"}, ("list_runs",)),
    ("get_training_progress", {"run_id": "nope"}, ("list_runs",)),
    ("run_play", {"episodes": "x"}, ("episodes",)),
    ("run_inspect", {"port": "x"}, ("port",)),
    ("run_publish", {"private": "perhaps"}, ("private",)),
]


def test_every_tool_has_an_error_here() -> None:
    assert {tool for tool, _, _ in WRONG} == {row.name for row in TOOLS}


@pytest.mark.parametrize(("tool", "arguments", "words"), WRONG, ids=[f"{n}-{row[0]}" for n, row in enumerate(WRONG)])
def test_an_error_says_what_is_wrong_and_what_to_call(
    talk: Talk, tool: str, arguments: dict[str, Any], words: tuple[str, ...]
) -> None:
    told = talk.error(tool, **arguments)
    assert all(word in told for word in words), told
    assert "Traceback" not in told


def test_a_tool_that_does_not_exist_is_answered_with_the_nearest(talk: Talk) -> None:
    told = talk.error("get_run_infos", run_id=SOLVER)
    assert "no tool is called 'get_run_infos'" in told
    assert "get_run_info" in told


def test_a_wrong_argument_is_named_and_its_value_is_not_repeated(talk: Talk) -> None:
    told = talk.error("list_runs", limit=f"many {SECRET}")
    assert told.startswith("limit: ")
    assert SECRET not in told


def test_a_run_without_a_single_metric_still_gets_answers(talk: Talk) -> None:
    assert talk.data("diagnose", run_id=CRASHED)["verdict"] in ("crashed", "misconfigured")
    assert talk.data("comprehensive_diagnostic", run_id=CRASHED)["status"]["health"] in ("issues_detected", "unknown")
    assert talk.data("get_run_metrics", run_id=CRASHED)["metrics"] == []
    assert talk.data("get_training_progress", run_id=CRASHED)["performance"]["train_reward_mean"] is None


def test_a_regular_expression_that_runs_away_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    from rlclinic.apps.mcp import log_text
    from rlclinic.model.errors import UsageError

    monkeypatch.setattr(log_text, "PATIENCE", 1.0)
    with pytest.raises(UsageError, match="too long"):
        log_text.matching(["a" * 40 + "!"], "(a+)+$")


TASK = ("env", "env_name", "env_id", "env_wrapper", "env_wrappers", "env_kwargs", "algo", "algo_id", "algorithm",
        "framework", "device", "n_actions")  # fmt: skip


@pytest.mark.parametrize("key", TASK)
def test_no_alias_of_a_key_that_names_code_or_another_task_is_taken(talk: Talk, key: str) -> None:
    value = "runs.evil.payload:Env"
    assert "not overridden here" in talk.error(
        "start_training", config_id="CartPole-v1:ppo", overrides={"learning_rate": 0.1, key: value}
    )
    assert "not overridden here" in talk.error("start_trial", run_id=SOLVER, changes={key: value}, seeds=1)


def test_every_setting_of_a_known_configuration_may_be_overridden() -> None:
    for name in ("sb3", "gymnasium-solver", "sb3-zoo"):
        for native in framework(name).hyperparameters:
            found = canonical_settings({native: Setting(native, 0, native)}, [framework(name)])
            fixed = [key for key in found if key in FIELDS or hyperparameters()[key].group == "identity"]
            assert is_setting(native) or fixed, (name, native)
    assert not any(map(is_setting, ("ENV_ID", "envkwargs", "task", "environment", "gym_id", "nonsense"))), "by list"
    assert all(map(is_setting, ("learning_rate", "policy_lr", "seed", "max_env_steps", "eval_freq", "n_envs")))
