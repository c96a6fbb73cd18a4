"""Changes that fit: batches divide rollouts, values lie in their ranges, frameworks get what they accept."""

from __future__ import annotations

import pytest

from rlclinic.model.diagnosis import Verdict
from rlclinic.prescriptions.checks.constraints import dividing_batch, fitted, problems
from rlclinic.prescriptions.setting_change import SettingChange
from tests.prescriptions.made import PPO, advised, assessment_of, changed_keys, made_run


def test_a_new_rollout_takes_its_batch_along() -> None:
    assessment = assessment_of(made_run({**PPO, "n_envs": 3, "n_steps": 100, "batch_size": 60}), {})
    changes = fitted(assessment, [SettingChange("n_steps", 50)])
    assert dict(changes) == {"n_steps": 50, "batch_size": 50}
    assert problems(assessment, changes) == ()


def test_a_batch_that_still_divides_is_left_alone() -> None:
    assessment = assessment_of(made_run(PPO), {})
    assert fitted(assessment, [SettingChange("n_steps", 256)]) == (SettingChange("n_steps", 256),)


def test_a_batch_never_exceeds_the_rollout() -> None:
    assessment = assessment_of(made_run({**PPO, "n_envs": 1, "n_steps": 128, "batch_size": 128}), {})
    assert dict(fitted(assessment, [SettingChange("batch_size", 256)])) == {"batch_size": 128}


@pytest.mark.parametrize(("batch", "rollout", "wanted"), [(100, 256, 128), (60, 150, 50), (7, 13, 13), (64, 64, 64)])
def test_the_nearest_divisor_is_chosen(batch: int, rollout: int, wanted: int) -> None:
    assert dividing_batch(batch, rollout) == wanted


@pytest.mark.parametrize(
    "change",
    [
        SettingChange("gamma", 1.2),
        SettingChange("learning_rate", 0.0),
        SettingChange("n_epochs", 2.5),
        SettingChange("batch_size", 100),
        SettingChange("clip_range", 1.0),
        SettingChange("tau", 0.0),
    ],
)
def test_what_is_invalid_is_named(change: SettingChange) -> None:
    assert problems(assessment_of(made_run(PPO), {}), [change])


def test_gymnasium_solver_takes_value_clips_below_one_only() -> None:
    native = {"algo_id": "ppo", "n_envs": 8, "n_steps": 32, "batch_size": 256, "policy_lr": 0.001, "clip_range_vf": 0.2}
    assessment = assessment_of(made_run(native, framework_id="gymnasium-solver"), {})
    assert problems(assessment, [SettingChange("clip_range_vf", 1.0)])
    made = advised(assessment.run, {"value-clipping-too-tight": 0.7})
    assert changed_keys(made) == {"clip_range_vf": (0.2, 0.99)}


def test_gymnasium_solver_gets_plain_decimals_and_loses_its_target_kl() -> None:
    native = {"algo_id": "ppo", "n_envs": 8, "n_steps": 32, "batch_size": 256, "policy_lr": 0.1, "target_kl": 0.005}
    run = made_run(native, framework_id="gymnasium-solver")
    made, *_ = advised(run, {"learning-rate-too-high": 0.9}, "kl-too-large")
    assert made.native is not None
    assert "policy_lr=0.001" in made.native.text
    made, *_ = advised(run, {"updates-stopped": 0.9}, "updates-cease")
    assert [(change.native_key, change.after) for change in made.changes] == [("target_kl", None)]


def test_a_batch_that_does_not_divide_is_mended_in_a_config_that_could_not_run() -> None:
    native = {"algo_id": "ppo", "n_envs": 8, "n_steps": 32, "batch_size": 100, "policy_lr": "1e-3"}
    run = made_run(native, framework_id="gymnasium-solver")
    made = advised(run, {"invalid-config": 0.9}, "invalid-combination")
    assert changed_keys(made) == {"learning_rate": ("1e-3", 0.001), "batch_size": (100, 128)}


def test_rsl_rl_counts_minibatches() -> None:
    native = {
        "num_steps_per_env": 24, "env.scene.num_envs": 16, "algorithm.num_mini_batches": 4,
        "algorithm.learning_rate": 1e-3, "algorithm.schedule": "fixed", "max_iterations": 100,
    }  # fmt: skip
    run = made_run(native, framework_id="rsl_rl", environment=ELSEWHERE)
    made = advised(run, {"batch-too-small": 0.9}, "batch-tiny")
    assert changed_keys(made) == {"n_minibatches": (4, 2)}
    made = advised(run, {"budget-too-small": 0.9}, verdict=Verdict.UNSTABLE)
    assert changed_keys(made) == {"total_updates": (100, 200)}


def test_a_rate_that_follows_the_kl_is_turned_by_the_target_kl() -> None:
    native = {
        "num_steps_per_env": 24, "env.scene.num_envs": 16, "algorithm.num_mini_batches": 4,
        "algorithm.learning_rate": 1e-3, "algorithm.schedule": "adaptive", "algorithm.desired_kl": 0.01,
    }  # fmt: skip
    run = made_run(native, framework_id="rsl_rl", environment=ELSEWHERE)
    made = advised(run, {"learning-rate-too-high": 0.9}, "kl-too-large")
    assert changed_keys(made) == {"target_kl": (0.01, 0.005)}


def test_a_linear_schedule_stays_one() -> None:
    native = {**PPO, "learning_rate": "lin_0.1", "n_timesteps": 100_000}
    run = made_run(native, framework_id="sb3-zoo", environment="CartPole-v1")
    made, *_ = advised(run, {"learning-rate-too-high": 0.9}, "kl-too-large")
    assert made.native is not None
    assert "learning_rate: lin_0.001" in made.native.text


def test_copies_and_soft_updates_of_a_target_are_told_apart() -> None:
    copied = made_run({"target_update_interval": 10_000_000, "tau": 1.0}, algorithm="DQN")
    assert changed_keys(advised(copied, {"target-network-too-slow": 0.9})) == {
        "target_update_interval": (10_000_000, 10)
    }
    soft = made_run({"tau": 1.0, "learning_rate": 3e-4}, algorithm="SAC", environment="Pendulum-v1")
    assert changed_keys(advised(soft, {"target-network-too-fast": 0.9})) == {"tau": (1.0, 0.005)}


ELSEWHERE = "MyRobot-v0"
