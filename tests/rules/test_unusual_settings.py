"""Settings, and what several come to, against what people train with."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rlclinic.facts.derived_settings import value_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.unusual_settings import unusual
from rlclinic.model.config import Config, Setting
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.reference.usual import Basis, Direction, bounded


def _run(algorithm: str, budget: float | None = 100_000.0, framework: str = "sb3", **values: object) -> Run:
    config = Config({name: Setting(name, value, name) for name, value in values.items()})
    return Run("run", "run", algorithm=algorithm, framework=framework, budget=budget, config=config)


def beyond(facts: RunFacts, name: str, direction: Direction) -> float:
    found = unusual(facts, name)
    return found.beyond(direction) if found is not None else 0.0


@pytest.mark.parametrize(
    ("algorithm", "name", "direction", "inside", "outside"),
    [
        ("PPO", "learning_rate", "high", 1e-3, 0.3),
        ("PPO", "learning_rate", "low", 1e-4, 1e-8),
        ("PPO", "gamma", "low", 0.99, 0.2),
        ("A2C", "gae_lambda", "low", 1.0, 0.0),
        ("PPO", "ent_coef", "high", 0.01, 3.0),
        ("DQN", "exploration_final", "high", 0.05, 0.9),
        ("PPO", "log_std_init", "either", -0.5, 4.0),
        ("PPO", "log_std_init", "either", 0.0, -5.0),
        ("DQN", "batch_size", "low", 32, 2),
    ],
)
def test_values_are_outside_in_the_suspect_direction_alone(
    algorithm: str, name: str, direction: Direction, inside: float, outside: float
) -> None:
    assert beyond(RunFacts(_run(algorithm, **{name: inside})), name, direction) == 0.0
    assert beyond(RunFacts(_run(algorithm, **{name: outside})), name, direction) > 0.2
    if direction != "either":
        other: Direction = "low" if direction == "high" else "high"
        assert beyond(RunFacts(_run(algorithm, **{name: outside})), name, other) == 0.0


def test_a_value_further_out_counts_more() -> None:
    rates = [beyond(RunFacts(_run("PPO", learning_rate=rate)), "learning_rate", "high") for rate in (0.1, 1.0)]
    assert rates[1] == pytest.approx(rates[0] + 1.0)


def test_the_weights_of_a_short_run_with_a_small_rate_cannot_move() -> None:
    settings = {"n_steps": 2048, "n_envs": 1, "batch_size": 64, "n_epochs": 10}
    slow = _run("PPO", 20_480, learning_rate=3e-5, **settings)
    assert value_of(RunFacts(slow), "total_movement") == pytest.approx(3e-5 * 3200)
    assert beyond(RunFacts(slow), "total_movement", "low") > 0.0
    assert beyond(RunFacts(_run("PPO", 1_000_000, learning_rate=3e-4, **settings)), "total_movement", "low") == 0.0


def test_a_target_network_is_slow_by_its_interval_or_by_its_average() -> None:
    for settings in ({"target_update_interval": 90_000, "tau": 1.0}, {"tau": 1e-5}):
        assert beyond(RunFacts(_run("DQN", **settings)), "target_period_share", "high") > 0.0
    assert beyond(RunFacts(_run("DQN", target_update_interval=1000, tau=1.0)), "target_period_share", "high") == 0.0


def test_a_deterministic_policy_without_noise_is_told_from_one_whose_library_adds_it() -> None:
    assert value_of(RunFacts(_run("TD3", learning_rate=1e-3)), "action_noise") == 0.0
    assert value_of(RunFacts(_run("TD3", framework="cleanrl", learning_rate=1e-3)), "action_noise") is None
    assert value_of(RunFacts(_run("SAC", learning_rate=1e-3)), "action_noise") is None


def test_a_logged_rate_stands_for_one_whose_config_is_lost() -> None:
    logged = Series("learning_rate", "lr", np.arange(5.0), np.full(5, 1e-7))
    run = Run("run", "run", algorithm="DQN", series={"learning_rate": logged})
    assert beyond(RunFacts(run), "learning_rate", "low") == pytest.approx(2.0)


def test_nothing_is_outside_where_nothing_is_known() -> None:
    bare = Run("run", "run", algorithm="PPO")
    assert all(beyond(RunFacts(bare), name, "either") == 0.0 for name in bounded())
    assert math.isclose(beyond(RunFacts(_run("PPO", learning_rate=0.0)), "learning_rate", "low"), 1.5)


def test_a_share_is_formed_of_numbers_of_the_same_unit_alone() -> None:
    settings = {"target_update_interval": 90_000, "learning_starts": 50_000, "buffer_size": 1000}
    in_steps, in_epochs = (
        RunFacts(replace(_run("DQN", framework="d3rlpy", **settings), step_axis=axis))
        for axis in ("env_steps", "iterations")
    )
    shares = ("target_period_share", "learning_starts_share", "buffer_share")
    assert [value_of(in_steps, name) for name in shares] == pytest.approx([0.9, 0.5, 0.01])
    assert [value_of(in_epochs, name) for name in shares] == [None, None, None]
    in_updates = RunFacts(replace(_run("DQN", framework="d3rlpy", **settings), step_axis="updates"))
    assert value_of(in_updates, "target_period_share") == pytest.approx(0.9)


@pytest.mark.parametrize(("algorithm", "rate"), [("GRPO", 1e-6), ("ARS", 0.02), ("CQL", 3e-6)])
def test_a_rate_that_is_ordinary_in_its_domain_is_not_outside(algorithm: str, rate: float) -> None:
    assert beyond(RunFacts(_run(algorithm, learning_rate=rate)), "learning_rate", "either") == 0.0
    assert beyond(RunFacts(_run("PPO", learning_rate=rate)), "learning_rate", "either") > 0.0


def test_ppo_of_a_language_model_is_not_held_against_configs_of_control_tasks() -> None:
    found = unusual(RunFacts(_run("PPO", learning_rate=1e-6, max_response_length=512)), "learning_rate")
    assert found is not None
    assert found.outside == 0.0
    assert abs(found.spreads) < 1.0


def test_without_an_entry_a_value_is_held_against_working_configs_not_against_defaults() -> None:
    found = unusual(RunFacts(_run("DQN", target_update_interval=10_000)), "target_update_interval")
    assert found is not None
    assert found.basis is Basis.ALGORITHM
    assert found.spreads > 2.0
