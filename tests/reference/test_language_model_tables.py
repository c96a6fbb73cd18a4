"""The tables of the language-model frameworks."""

from __future__ import annotations

import pytest

from rlclinic.reference.framework import COUNTER, framework
from tests.reference.lookup import canonical, detected, entry, position

VERL = {
    "critic/score/mean": "return/train",
    "critic/score/max": "return/train_max",
    "critic/score/min": "return/train_min",
    "critic/rewards/mean": "reward/shaped",
    "critic/advantages/mean": "advantage/mean",
    "critic/values/mean": "value/mean",
    "critic/vf_explained_var": "explained_variance",
    "critic/vf_loss": "value_loss",
    "critic/vf_clipfrac": "clip_fraction/value",
    "critic/vpred_mean": "value/mean",
    "critic/grad_norm": "grad_norm/critic",
    "critic/lr": "learning_rate/critic",
    "response_length/mean": "response_length",
    "response_length/max": "response_length/max",
    "response_length/min": "response_length/min",
    "response_length/clip_ratio": "truncated_fraction",
    "prompt_length/mean": "prompt_length",
    "actor/pg_loss": "policy_loss",
    "actor/pg_clipfrac": "clip_fraction",
    "actor/ppo_kl": "approx_kl",
    "actor/grad_norm": "grad_norm",
    "actor/lr": "learning_rate",
    "actor/kl_loss": "kl_ref",
    "actor/kl_coef": "kl_coef",
    "actor/entropy_loss": "entropy",
    "actor/entropy": "entropy",
    "critic/kl": "kl_ref",
    "critic/kl_coeff": "kl_coef",
    "actor/reward_kl_penalty": "kl_ref",
    "actor/reward_kl_penalty_coeff": "kl_coef",
    "val/test_score/openai/gsm8k": "return/eval",
    "val-core/openai/gsm8k/reward/mean@1": "return/eval",
    "val-core/aime_2024/acc/mean@30": "return/eval",
    "val-core/aime_2024/acc/maj@30/mean": "return/eval",
    "training/rollout_probs_diff_mean": "sampler_mismatch/probs_diff_mean",
    "training/rollout_probs_diff_max": "sampler_mismatch/probs_diff_max",
    "training/rollout_actor_probs_pearson_corr": "sampler_mismatch/probs_pearson_corr",
    "rollout_corr/kl": "sampler_mismatch/kl",
    "rollout_corr/chi2_token": "sampler_mismatch/chi2_token",
    "rollout_corr/rollout_is_eff_sample_size": "sampler_mismatch/rollout_is_eff_sample_size",
    "mismatch/mismatch_kl": "sampler_mismatch/kl",
    "mismatch/rollout_is_mean": "sampler_mismatch/rollout_is_mean",
    "num_turns/mean": "turns",
    "training/global_step": COUNTER,
    "training/epoch": "epoch",
    "train/loss": "loss/supervised",
}
SEARCH_R1 = {
    "critic/score/mean": "return/train",
    "env/number_of_actions/mean": "turns",
    "env/finish_ratio": "finish_rate",
    "env/ratio_of_valid_action": "valid_actions",
    "state_tokens/coverage": "state_tokens",
}
TRL = {
    "reward": "return/train",
    "reward_std": "reward/std",
    "rewards/accuracy": "reward/accuracy",
    "rewards/accuracy/mean": "reward/accuracy",
    "rewards/accuracy/std": "reward_std/accuracy",
    "completion_length": "response_length",
    "completions/mean_length": "response_length",
    "completions/max_length": "response_length/max",
    "completions/min_length": "response_length/min",
    "completions/clipped_ratio": "truncated_fraction",
    "clip_ratio": "clip_fraction",
    "clip_ratio/region_mean": "clip_fraction",
    "frac_reward_zero_std": "zero_variance_groups",
    "kl": "kl_ref",
    "entropy": "entropy",
    "num_tokens": "tokens",
    "sampling/sampling_logp_difference/mean": "sampler_mismatch/sampling_logp_difference/mean",
    "sampling/importance_sampling_ratio/max": "sampler_mismatch/importance_sampling_ratio/max",
    "policy_loss": "policy_loss",
    "entropy_coef": "entropy_coef",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "objective/kl": "kl_ref",
    "objective/entropy": "entropy",
    "objective/rlhf_reward": "reward/shaped",
    "objective/scores": "return/train",
    "policy/approxkl_avg": "approx_kl",
    "policy/clipfrac_avg": "clip_fraction",
    "policy/entropy_avg": "entropy",
    "loss/policy_avg": "policy_loss",
    "loss/value_avg": "value_loss",
    "val/clipfrac_avg": "clip_fraction/value",
    "val/ratio": "importance_ratio",
    "lr": "learning_rate",
    "episode": "episodes",
    "eps": COUNTER,
}
OPENRLHF = {
    "policy_loss": "policy_loss",
    "actor_lr": "learning_rate",
    "actor_grad_norm": "grad_norm",
    "kl": "kl_ref",
    "reward": "return/train",
    "return": "reward/shaped",
    "response_length": "response_length",
    "entropy_loss": "entropy",
    "critic_loss": "value_loss",
    "values": "value/mean",
    "train/policy_loss": "policy_loss",
    "train/response_clip_ratio": "truncated_fraction",
    "eval/eval_math_pass1": "return/eval",
    "act_loss": "policy_loss",
    "gen_len": "response_length",
    "ent_loss": "entropy",
}
NEMO_RL = {
    "train/token_mult_prob_error": "sampler_mismatch/token_mult_prob_error",
    "train/gen_kl_error": "sampler_mismatch/kl",
    "train/policy_kl_error": "sampler_mismatch/reverse_kl",
    "train/js_divergence_error": "sampler_mismatch/js_divergence",
    "train/sampling_importance_ratio": "sampler_mismatch/importance_ratio",
    "train/approx_entropy": "entropy",
    "train/probs_ratio": "importance_ratio",
    "train/probs_ratio_max": "importance_ratio/max",
    "train/reward": "return/train",
    "validation/accuracy": "return/eval",
    "Avg Reward": "return/train",
    "Generation KL Error": "sampler_mismatch/kl",
    "Mean Generation Length": "response_length",
}
SLIME = {
    "train/loss": "loss",
    "train/pg_loss": "policy_loss",
    "train/entropy_loss": "entropy",
    "train/pg_clipfrac": "clip_fraction",
    "train/ppo_kl": "approx_kl",
    "train/kl_loss": "kl_ref",
    "train/grad_norm": "grad_norm",
    "train/lr-pg_0": "learning_rate",
    "train/train_rollout_logprob_abs_diff": "sampler_mismatch/logprob_abs_diff",
    "rollout/raw_reward": "return/train",
    "rollout/entropy": "entropy",
    "rollout/truncated_ratio": "truncated_fraction",
    "rollout/response_len/mean": "response_length",
    "eval/aime": "return/eval",
    "eval/aime/response_len/mean": "response_length",
    "eval/step": COUNTER,
}
PRIME_RL = {
    "optim/grad_norm": "grad_norm",
    "entropy/all/mean": "entropy",
    "mismatch_kl/all/mean": "sampler_mismatch/kl",
    "kl_ent_ratio/mean": "sampler_mismatch/kl_to_entropy",
    "reward/all/mean": "return/train",
    "train/agg/all/reward/mean": "return/train",
    "train/math/all/agent/reward/mean": "return/train",
    "eval/aime/all/avg@4": "return/eval",
    "is_truncated/all/mean": "truncated_fraction",
    "Mismatch KL": "sampler_mismatch/kl",
    "Grad. Norm": "grad_norm",
    "LR": "learning_rate",
    "Reward": "return/train",
    "Truncation": "truncated_fraction",
    "Turns": "turns",
}
AREAL = {
    "ppo_actor/update/importance_weight": "importance_ratio",
    "ppo_actor/update/importance_weight/avg": "importance_ratio",
    "ppo_actor/update/behave_imp_weight": "sampler_mismatch/importance_ratio_avg",
    "ppo_actor/update/behave_imp_weight/max": "sampler_mismatch/importance_ratio_max",
    "ppo_actor/no_eos_ratio": "truncated_fraction",
    "ppo_actor/no_eos_ratios/avg": "truncated_fraction",
    "ppo_actor/seq_len": "response_length",
    "task_reward": "return/train",
    "ppo_actor/task_reward/avg": "return/train",
    "eval-rollout/reward": "return/eval",
}
TABLES = {
    "verl": VERL,
    "search-r1": SEARCH_R1,
    "trl": TRL,
    "openrlhf": OPENRLHF,
    "nemo-rl": NEMO_RL,
    "slime": SLIME,
    "prime-rl": PRIME_RL,
    "areal": AREAL,
}


@pytest.mark.parametrize(
    ("framework_id", "logged", "expected"),
    [(table, logged, name) for table, names in TABLES.items() for logged, name in names.items()],
)
def test_a_name_of_a_language_model_framework_has_its_documented_meaning(
    framework_id: str, logged: str, expected: str
) -> None:
    assert canonical(framework_id, logged) == expected


@pytest.mark.parametrize("logged", ["reward", "kl", "completions/clipped_ratio", "objective/kl", "loss/value_avg"])
def test_trl_names_mean_the_same_behind_the_prefix_of_the_trackers(logged: str) -> None:
    assert canonical("trl", f"train/{logged}") == TRL[logged]


@pytest.mark.parametrize("logged", ["eval_reward", "eval/reward"])
def test_trl_evaluations_are_the_evaluation_return_in_files_and_in_trackers(logged: str) -> None:
    assert canonical("trl", logged) == "return/eval"


@pytest.mark.parametrize("logged", ["rewards/chosen", "rewards/margins", "logps/chosen"])
def test_a_preference_run_alone_is_not_taken_for_trl_reinforcement_learning(logged: str) -> None:
    assert detected({"loss", "rewards/chosen", "rewards/accuracies", "logps/chosen", logged}) != "trl"


@pytest.mark.parametrize(
    ("framework_id", "better", "worse"),
    [
        ("verl", "val-core/gsm8k/acc/mean@8", "val-core/gsm8k/acc/best@8/mean"),
        ("verl", "val-core/gsm8k/acc/mean@8", "val-aux/gsm8k/reward/mean@8"),
        ("verl", "actor/kl_loss", "actor/reward_kl_penalty"),
        ("verl", "actor/entropy", "actor/entropy_loss"),
        ("trl", "completions/mean_length", "completion_length"),
        ("trl", "clip_ratio/region_mean", "clip_ratio/low_mean"),
        ("trl", "policy/entropy_avg", "objective/entropy"),
        ("slime", "train/kl_loss", "rollout/kl"),
        ("slime", "rollout/response_len/mean", "eval/aime/response_len/mean"),
        ("common", "train/roll/ep_rew_mean", "episode_reward"),
        ("common", "episode_reward", "reward"),
        ("gymnasium-solver", "train/roll/ep_rew/mean", "train/roll/ep_rew/last"),
    ],
)
def test_of_two_names_for_one_quantity_the_better_source_is_preferred(
    framework_id: str, better: str, worse: str
) -> None:
    assert canonical(framework_id, better) == canonical(framework_id, worse)
    assert position(framework_id, better) < position(framework_id, worse)


@pytest.mark.parametrize(
    ("logged", "scale"), [("actor/lr(1e-4)", 1e-4), ("critic/lr(1e-4)", 1e-4), ("train/lr(1e-3)", 1e-3)]
)
def test_the_scale_in_brackets_of_an_old_verl_name_is_undone(logged: str, scale: float) -> None:
    found = entry("verl", logged)
    assert found is not None
    assert found[0].scale == scale


@pytest.mark.parametrize(
    ("framework_id", "logged", "sign"),
    [
        ("verl", "actor/entropy_loss", 1),
        ("openrlhf", "entropy_loss", 1),
        ("slime", "train/entropy_loss", 1),
        ("trl", "objective/entropy", 1),
        ("gymnasium-solver", "train/opt/loss/entropy", -1),
        ("common", "train/loss/entropy", -1),
        ("areal", "ppo_actor/update/approx_kl/avg", -1),
    ],
)
def test_signs_are_those_of_the_source_code(framework_id: str, logged: str, sign: int) -> None:
    found = entry(framework_id, logged)
    assert found is not None
    assert found[0].sign == sign


def test_the_sign_of_a_home_made_entropy_loss_is_left_to_the_data() -> None:
    found = framework("common").metrics.find("entropy_loss")
    assert found is not None
    assert [entry.sign for entry in found[1]] == [0]


def test_returns_of_a_run_without_a_critic_are_not_value_targets() -> None:
    assert canonical("verl", "critic/returns/mean", "PPO") == "value/target"
    assert canonical("verl", "critic/returns/mean", "GRPO") is None


@pytest.mark.parametrize(
    ("logged", "words"),
    [
        ("actor/kl_loss", "last micro-batch"),
        ("response_length/mean", "retrieved tokens"),
        ("response_length/clip_ratio", "does not measure truncation"),
    ],
)
def test_search_r1_says_where_its_numbers_mean_something_else_than_verl_s(logged: str, words: str) -> None:
    own, base = entry("search-r1", logged), entry("verl", logged)
    assert own is not None
    assert base is not None
    assert own[1] == base[1]
    assert words in own[0].caveat
    assert words not in base[0].caveat


def test_search_r1_counts_its_group_by_n_agent_before_n() -> None:
    table = framework("search-r1").hyperparameters
    keys = [key for key in table if (found := table.find(key)) and found[1][0].name == "group_size"]
    assert keys[0] == "actor_rollout_ref.rollout.n_agent"
    assert "actor_rollout_ref.rollout.n" in keys


@pytest.mark.parametrize(
    ("version", "name", "value"),
    [
        ("0.14.0", "temperature", 0.9),
        ("0.18.1", "temperature", 1.0),
        ("0.18.1", "kl_loss_coef", 0.04),
        ("0.24.0", "kl_loss_coef", 0.0),
        ("0.18.1", "loss_aggregation", "bnpo"),
        ("0.24.0", "loss_aggregation", "dapo"),
        ("0.24.0", "importance_correction", True),
        ("1.9.0", "max_response_length", 256),
        ("1.16.0", "max_response_length", 512),
        ("", "group_size", 8),
        ("", "learning_rate", 1e-6),
        ("", "clip_range", 0.2),
        ("", "n_epochs", 1),
    ],
)
def test_trl_defaults_are_those_of_the_version(version: str, name: str, value: object) -> None:
    assert framework("trl").defaults_for("GRPO", version)[name] == value


@pytest.mark.parametrize(
    ("framework_id", "version", "name", "value"),
    [
        ("verl", "0.3.0.post1", "ent_coef", 0.001),
        ("verl", "0.4.1", "ent_coef", 0.0),
        ("verl", "0.3.0.post1", "use_kl_in_reward", True),
        ("verl", "0.9.0", "use_kl_in_reward", False),
        ("verl", "", "learning_rate_critic", 1e-5),
        ("verl", "", "mini_batch_size", 256),
        ("search-r1", "", "ent_coef", 0.001),
        ("search-r1", "", "top_p", 0.95),
        ("search-r1", "", "use_kl_in_reward", True),
        ("search-r1", "", "mask_observations", False),
        ("search-r1", "", "max_turns", 10),
    ],
)
def test_verl_and_search_r1_defaults_are_those_of_their_config_files(
    framework_id: str, version: str, name: str, value: object
) -> None:
    assert framework(framework_id).defaults_for("PPO", version)[name] == value


@pytest.mark.parametrize("framework_id", TABLES)
def test_every_language_model_framework_is_recognised_by_its_own_names(framework_id: str) -> None:
    own = {name for name in framework(framework_id).metrics if "*" not in name}
    assert detected(own) == framework_id


@pytest.mark.parametrize(
    ("framework_id", "names"),
    [
        ("search-r1", {"actor/pg_loss", "critic/score/mean", "env/number_of_actions/mean"}),
        ("verl", {"actor/pg_loss", "actor/ppo_kl", "response_length/mean"}),
        ("verl", {"train/loss", "train/lr(1e-3)", "train/time(s)"}),
        ("trl", {"loss", "reward", "reward_std", "completion_length", "rewards/combined_reward", "kl"}),
        ("trl", {"train/reward", "train/reward_std", "train/completions/mean_length"}),
        ("openrlhf", {"train/policy_loss", "train/actor_lr", "train/reward", "train/kl"}),
        ("slime", {"rollout/raw_reward", "train/pg_loss", "train/loss"}),
        ("gymnasium-solver", {"train/roll/ep_rew/mean", "train/cnt/total_env_steps"}),
        ("unknown", {"train/loss", "episode_reward"}),
        ("unknown", {"loss", "reward", "kl", "entropy"}),
        ("unknown", {"Loss/pi", "Loss/v", "Loss/entropy", "Rewards/mean_episodes"}),
    ],
)
def test_a_few_names_tell_the_framework(framework_id: str, names: set[str]) -> None:
    assert detected(names) == framework_id


@pytest.mark.parametrize("framework_id", TABLES)
def test_language_model_runs_are_counted_in_updates(framework_id: str) -> None:
    assert framework(framework_id).steps.axis == "updates"


def test_slime_counts_rollouts_apart_from_updates() -> None:
    exceptions = dict(framework("slime").steps.exceptions)
    assert exceptions == {"rollout/*": "iterations", "eval/*": "iterations", "perf/*": "iterations"}
