"""What working configs have in common."""

from __future__ import annotations

import pytest

from rlclinic.reference.reference_configs import UPDATES
from rlclinic.reference.usual import size_of, usual_value, value_of_size, working_range


def test_a_discount_counts_by_its_horizon() -> None:
    assert size_of("gamma", 0.99) == pytest.approx(100.0)
    assert value_of_size("gamma", 100.0) == pytest.approx(0.99)
    assert (size_of("learning_rate", 3e-4), value_of_size("learning_rate", 3e-4)) == (3e-4, 3e-4)


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN", "SAC"])
@pytest.mark.parametrize("name", ["learning_rate", "gamma", UPDATES])
def test_the_usual_value_lies_in_the_range_of_working_ones(algorithm: str, name: str) -> None:
    usual, bounds = usual_value(algorithm, name, 100_000), working_range(algorithm, name)
    assert usual is not None
    assert bounds is not None
    assert bounds[0] <= size_of(name, usual) * (1 + 1e-9)
    assert size_of(name, usual) <= bounds[1] * (1 + 1e-9)


def test_a_short_budget_has_the_rates_of_short_budgets() -> None:
    short, long = usual_value("SAC", "learning_rate", 10_000), usual_value("SAC", "learning_rate", 2_000_000)
    assert short is not None
    assert long is not None
    assert short > long


def test_on_policy_updates_are_counted_per_sample_of_a_minibatch() -> None:
    bounds = working_range("PPO", UPDATES)
    assert bounds is not None
    assert bounds[0] == pytest.approx(4 / 256)
