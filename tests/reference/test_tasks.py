"""The reference data: names find their task and only theirs, values carry over, distances are in spreads."""

from __future__ import annotations

import pytest

from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.tasks import (
    examinable,
    has_reference_config,
    log_position,
    reference_config,
    reference_spread,
    task_of,
)


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ("CartPole-v1", "CartPole"),
        ("CartPole", "CartPole"),
        ("CartPole-v1_3", "CartPole"),
        ("CartPole-v1__ppo__1__1700000000", "CartPole"),
        ("runs/ppo_CartPole-v1-sac", "CartPole"),
        ("ALE/Pong-v5", "Pong"),
        ("PongNoFrameskip-v4", "Pong"),
        ("SpaceInvadersDeterministic-v4", "SpaceInvaders"),
        ("LunarLander-v2", "LunarLander"),
        ("LunarLanderContinuous-v2", "LunarLanderContinuous"),
        ("BipedalWalkerHardcore-v3", "BipedalWalkerHardcore"),
        ("FrozenLake8x8-v1", "FrozenLake8x8"),
        ("Hopper-v2", "Hopper"),
        ("InvertedDoublePendulum-v4", "InvertedDoublePendulum"),
    ],
)
def test_a_name_finds_its_task_whatever_surrounds_it(environment: str, name: str) -> None:
    task = task_of(environment)
    assert task is not None
    assert task.name == name


@pytest.mark.parametrize(
    "environment",
    [
        "",
        "cartpole",
        "MyCartPole-v1",
        "CartPoleSwingUp-v1",
        "CartPole-v1-sparse",
        "Isaac-Ant-v0",
        "Ant",
        "Humanoid",
        "mo-hopper-v4",
        "SafetyHopperVelocity-v1",
        "halfcheetah-medium-v2",
        "dm_control/cartpole-balance-v0",
        "the CartPole task",
    ],
)
def test_another_task_of_a_similar_name_is_not_taken_for_it(environment: str) -> None:
    assert task_of(environment) is None


def test_the_first_cartpole_has_its_own_limit_and_threshold() -> None:
    old, new = task_of("CartPole-v0"), task_of("CartPole-v1")
    assert old is not None
    assert new is not None
    assert (old.max_episode_steps, old.threshold) == (200, 195.0)
    assert (new.max_episode_steps, new.threshold, new.target) == (500, 475.0, 475.0)
    assert new.random_mean == pytest.approx(22.197)
    assert new.steps_to_target["PPO"] == 40_000


def test_older_simulator_versions_have_the_random_return_that_was_measured_on_them() -> None:
    old, new = task_of("Ant-v3"), task_of("Ant-v5")
    assert old is not None
    assert new is not None
    assert old.random_mean == pytest.approx(-28.979)
    assert new.random_mean == pytest.approx(-38.0)
    assert old.threshold == new.threshold


def test_every_task_has_a_random_return_below_its_target() -> None:
    for name in ("CartPole-v1", "Acrobot-v1", "Pendulum-v1", "Hopper-v5", "PongNoFrameskip-v4", "Taxi-v3"):
        task = task_of(name)
        assert task is not None
        assert task.random_mean is not None
        assert task.target is not None
        assert task.random_mean < task.target


def test_a_reference_config_is_canonical_with_defaults_filled_in_and_schedules_by_their_start() -> None:
    config = reference_config("CartPole-v1", "PPO")
    assert config["learning_rate"] == 0.001
    assert config["learning_rate_schedule"] == "linear"
    assert config["n_steps"] == 32
    assert config["vf_coef"] == 0.5
    assert set(config) <= set(hyperparameters())


def test_an_unknown_environment_gets_the_defaults_and_says_so() -> None:
    assert reference_config("Mine-v0", "ppo")["learning_rate"] == 0.0003
    assert not has_reference_config("Mine-v0", "PPO")
    assert has_reference_config("SeaquestNoFrameskip-v4", "DQN")
    assert not reference_config("CartPole-v1", "GRPO")


def test_no_entry_was_read_as_text_where_a_number_is_meant() -> None:
    for environment in ("CartPole-v1", "LunarLander-v3", "InvertedPendulum-v4", "Reacher-v2", "Pendulum-v1"):
        for algorithm in ("PPO", "A2C", "SAC", "TD3", "DQN"):
            for key, value in reference_config(environment, algorithm).items():
                if hyperparameters()[key].kind in ("number", "integer"):
                    assert isinstance(value, int | float), (environment, algorithm, key)


def test_a_discount_of_one_has_a_place() -> None:
    assert log_position("gamma", 1.0) == pytest.approx(-5)


def test_spreads_are_never_zero() -> None:
    for algorithm in ("PPO", "A2C", "DQN", "SAC", "TD3"):
        assert reference_spread(algorithm)
        assert all(spread > 0.1 for _, spread in reference_spread(algorithm).values())


def test_an_algorithm_s_own_entry_comes_before_that_of_its_relative() -> None:
    assert reference_config("CartPole-v1", "QRDQN")["n_quantiles"] == 10
    assert "n_quantiles" not in reference_config("Acrobot-v1", "QRDQN")
    assert reference_config("Acrobot-v1", "QRDQN") == reference_config("Acrobot-v1", "DQN")
    assert has_reference_config("CartPole-v1", "TRPO")
    assert not has_reference_config("Acrobot-v1", "TRPO")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("CartPole-v1", "CartPole-v1"),
        ("ALE/Pong-v5", "ALE/Pong-v5"),
        ("MyCompany/Robot-v0", "MyCompany/Robot-v0"),
        ("MyEnv", "MODULE:make_env"),
        ("make(env, 3)", "MODULE:make_env"),
    ],
)
def test_only_what_is_registered_is_examined_by_its_name(name: str, place: str) -> None:
    assert examinable(name) == place
