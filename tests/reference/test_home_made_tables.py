"""The tables of gymnasium-solver, of rlclinic's own runs, and of home-made names."""

from __future__ import annotations

import pytest

from rlclinic.reference.framework import COUNTER, framework, heads
from tests.reference.lookup import canonical, entry

# Names that published guides to diagnosis tell their readers to look at.
GUIDES = {
    "train/roll/ep_rew_mean": "return/train",
    "train/roll/ep_rew_best": "return/best",
    "train/loss/policy": "policy_loss",
    "train/loss/value": "value_loss",
    "train/loss/entropy": "entropy",
    "train/metrics/kl_divergence": "approx_kl",
    "train/metrics/clip_fraction": "clip_fraction",
    "train/metrics/explained_variance": "explained_variance",
    "train/metrics/grad_norm/actor_head": "grad_norm/actor_head",
    "train/metrics/grad_norm/critic_head": "grad_norm/critic_head",
    "train/metrics/grad_norm/trunk": "grad_norm/trunk",
    "val/roll/ep_rew_mean": "return/eval",
    "diagnostics/explained_variance": "explained_variance",
    "diagnostics/entropy_proxy": "entropy",
    "diagnostics/action_std_min": "action_std/min",
    "gradients/grad_norm": "grad_norm",
    "gradients/actor_grad_norm": "grad_norm/actor",
    "gradients/critic_grad_norm": "grad_norm/critic",
    "diagnostics/advantage_mean": "advantage/mean",
    "diagnostics/advantage_abs_max": "advantage/abs_max",
    "q_values/q1_mean": "q1/mean",
    "q_values/q2_mean": "q2/mean",
    "q2_mean": "q2/mean",
    "diagnostics/q_value_spread": "q/spread",
    "episode/mean_reward": "return/train",
    "explained_variance": "explained_variance",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "advantage_abs_max": "advantage/abs_max",
    "clip_fraction": "clip_fraction",
    "approx_kl": "approx_kl",
    "action_std_min": "action_std/min",
    "q_mean": "q/mean",
    "q_value_spread": "q/spread",
    "reward/dist": "reward/dist",
    "reward/heading": "reward/heading",
    "reward/total": "reward/step",
}

# Columns that gymnasium-solver's own diagnosis reads although its trainer does not write them.
MISREAD = {
    "train/opt/policy/approx_kl": "approx_kl",
    "train/opt/policy/clip_frac": "clip_fraction",
    "train/opt/value/clip_frac": "clip_fraction/value",
    "train/opt/grad/norm": "grad_norm",
    "train/time/rollout_fps": "fps",
    "train/time/system_fps": "fps",
}

# Decimals to which gymnasium-solver rounds before it writes.
DECIMALS = {
    "train/opt/ppo/approx_kl": 4,
    "train/opt/ppo/kl": 4,
    "train/hp/policy_lr": 6,
    "train/hp/ent_coef": 6,
    "train/opt/policy/entropy": 4,
    "train/opt/value/explained_var": 3,
    "train/opt/ppo/clip_fraction": 3,
    "train/opt/ppo/clip_fraction_vf": 3,
    "train/opt/loss/value_scaled": 2,
    "train/roll/adv/norm/mean": 2,
    "train/roll/adv/norm/std": 2,
    "train/hp/clip_range_vf": 2,
}


@pytest.mark.parametrize(("logged", "expected"), [*GUIDES.items(), *MISREAD.items()])
def test_names_that_guides_to_diagnosis_use_are_known_without_a_framework(logged: str, expected: str) -> None:
    assert canonical("common", logged) == expected


@pytest.mark.parametrize("logged", ["episode_reward", "episodic_return", "mean_reward", "score", "return"])
def test_a_home_made_training_return_and_its_evaluation_are_told_apart(logged: str) -> None:
    assert canonical("common", logged) == "return/train"
    assert canonical("common", f"train/{logged}") == "return/train"
    assert canonical("common", f"eval/{logged}") == "return/eval"


@pytest.mark.parametrize("logged", ["reward", "mean_reward", "train/reward"])
def test_a_home_made_reward_says_that_it_may_be_per_step(logged: str) -> None:
    found = entry("common", logged)
    assert found is not None
    assert "per step" in found[0].caveat


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("lr", "learning_rate"),
        ("learning-rate", "learning_rate"),
        ("discount_factor", "gamma"),
        ("lmbda", "gae_lambda"),
        ("eps_clip", "clip_range"),
        ("entropy_coeff", "ent_coef"),
        ("update_epochs", "n_epochs"),
        ("num_steps", "n_steps"),
        ("replay_size", "buffer_size"),
        ("start_steps", "learning_starts"),
        ("domain_name", "env_id"),
        ("agent", "algorithm"),
    ],
)
def test_home_made_hyperparameters_are_known(key: str, expected: str) -> None:
    found = framework("common").hyperparameters.find(key)
    assert found is not None
    assert [entry.name for entry in found[1]] == [expected]


def test_episodes_per_second_are_not_an_exploration_rate() -> None:
    assert canonical("common", "eps") == "epsilon"
    assert canonical("trl", "eps") == COUNTER
    assert canonical("gymnasium-solver", "train/sys/timing/eps") == COUNTER


@pytest.mark.parametrize(("logged", "decimals"), DECIMALS.items())
def test_gymnasium_solver_columns_carry_the_decimals_they_were_rounded_to(logged: str, decimals: int) -> None:
    found = entry("gymnasium-solver", logged)
    assert found is not None
    assert found[0].decimals == decimals


def test_the_best_return_of_gymnasium_solver_is_marked_as_a_single_episode() -> None:
    found = entry("gymnasium-solver", "train/roll/ep_rew/best")
    assert found is not None
    assert found[1] == "return/best"
    assert "single episode" in found[0].caveat


def test_gymnasium_solver_counts_env_steps_not_vector_steps() -> None:
    steps = framework("gymnasium-solver").steps
    assert (steps.axis, steps.columns) == ("env_steps", ("train/cnt/total_env_steps",))
    assert canonical("gymnasium-solver", "total_timesteps") == COUNTER


def test_rlclinic_s_own_runs_have_gymnasium_solver_s_names_and_are_tried_first() -> None:
    order = [head.id for head in heads()]
    assert order.index("rlclinic") < order.index("gymnasium-solver")
    assert set(framework("gymnasium-solver").metrics) <= set(framework("rlclinic").metrics)


def test_rlclinic_s_own_runs_are_not_given_gymnasium_solver_s_defaults() -> None:
    assert framework("gymnasium-solver").defaults_for("PPO", "")["clip_range_vf"] == 0.2
    assert framework("rlclinic").defaults_for("PPO", "") == {}


def test_home_made_names_are_tried_last_and_never_detected() -> None:
    last = heads()[-1]
    assert (last.id, last.detect) == ("common", ())
