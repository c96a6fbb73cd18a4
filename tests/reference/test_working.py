"""What working configs have in common."""

from __future__ import annotations

import pytest

from rlclinic.reference.working import UPDATES, size_of, times_beyond, usual_value, value_of, working_range


def test_a_discount_counts_by_its_horizon() -> None:
    assert size_of("gamma", 0.99) == pytest.approx(100.0)
    assert value_of("gamma", 100.0) == pytest.approx(0.99)
    assert (size_of("learning_rate", 3e-4), value_of("learning_rate", 3e-4)) == (3e-4, 3e-4)


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN", "SAC"])
@pytest.mark.parametrize("name", ["learning_rate", "gamma", UPDATES])
def test_the_usual_value_lies_in_the_range_of_working_ones(algorithm: str, name: str) -> None:
    usual, bounds = usual_value(algorithm, name, 100_000), working_range(algorithm, name)
    assert usual is not None
    assert bounds is not None
    assert bounds[0] <= size_of(name, usual) * (1 + 1e-9)
    assert size_of(name, usual) <= bounds[1] * (1 + 1e-9)
    assert times_beyond(algorithm, name, usual) == 0.0


@pytest.mark.parametrize(
    ("algorithm", "name", "value", "times"),
    [
        ("PPO", "learning_rate", 0.03, 30.0),
        ("PPO", "clip_range", 0.005, -20.0),
        ("PPO", "gamma", 0.5, -5.0),
        ("A2C", "ent_coef", 3.0, 300.0),
        ("DQN", "learning_rate", 1e-5, -10.0),
        ("QRDQN", "learning_rate", 1e-5, -10.0),
    ],
)
def test_a_value_outside_is_told_in_times_of_the_nearest_working_one(
    algorithm: str, name: str, value: float, times: float
) -> None:
    assert times_beyond(algorithm, name, value) == pytest.approx(times)


@pytest.mark.parametrize(
    ("algorithm", "name", "value"),
    [
        ("PPO", "ent_coef", 0.0),
        ("PPO", "vf_coef", 0.0),
        ("PPO", "learning_rate", float("nan")),
        ("GRPO", "learning_rate", 1.0),
        ("PPO", "no_such_setting", 1.0),
    ],
)
def test_what_is_switched_off_or_not_known_is_not_outside(algorithm: str, name: str, value: float) -> None:
    assert times_beyond(algorithm, name, value) == 0.0


def test_a_short_budget_has_the_rates_of_short_budgets() -> None:
    short, long = usual_value("SAC", "learning_rate", 10_000), usual_value("SAC", "learning_rate", 2_000_000)
    assert short is not None
    assert long is not None
    assert short > long


def test_on_policy_updates_are_counted_per_sample_of_a_minibatch() -> None:
    bounds = working_range("PPO", UPDATES)
    assert bounds is not None
    assert bounds[0] == pytest.approx(4 / 256)
