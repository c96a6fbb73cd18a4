"""How unusual a value is: distance, side, basis, and the bounds of its domain."""

from __future__ import annotations

import pytest

from rlclinic.reference.usual import Basis, domain_of_algorithm, how_unusual, position, value_at


@pytest.mark.parametrize(
    ("environment", "algorithm", "name", "basis"),
    [
        ("CartPole-v1", "PPO", "learning_rate", Basis.TASK),
        ("MyRoom-v0", "PPO", "learning_rate", Basis.ALGORITHM),
        ("MyRoom-v0", "TRPO", "target_kl", Basis.DEFAULT),
        ("MyRoom-v0", "GRPO", "learning_rate", Basis.DOMAIN),
        ("MyRoom-v0", "GRPO", "ent_coef", Basis.DOMAIN),
    ],
)
def test_a_value_is_held_against_the_nearest_thing_that_is_known(
    environment: str, algorithm: str, name: str, basis: Basis
) -> None:
    found = how_unusual(name, 1e-3, algorithm=algorithm, environment=environment)
    assert found is not None
    assert found.basis is basis


def test_values_of_working_configs_lie_within_a_spread_and_wrong_ones_do_not() -> None:
    near, far = (how_unusual("learning_rate", rate, algorithm="PPO") for rate in (3e-4, 0.5))
    assert near is not None
    assert far is not None
    assert abs(near.spreads) < 1.0
    assert far.off("high") > 5.0
    assert far.off("low") < -5.0
    assert (near.beyond("either"), far.beyond("low")) == (0.0, 0.0)
    assert far.beyond("high") == pytest.approx(1.52, abs=0.01)


def test_a_short_horizon_is_low_and_a_long_one_high() -> None:
    short, long = (how_unusual("gamma", gamma, algorithm="PPO") for gamma in (0.5, 0.99999))
    assert short is not None
    assert long is not None
    assert short.off("low") > 2.0
    assert long.off("high") > 2.0


@pytest.mark.parametrize(("name", "value"), [("gamma", 1.5), ("no_such_thing", 1.0), ("learning_rate", float("nan"))])
def test_what_has_no_place_has_no_distance(name: str, value: float) -> None:
    assert how_unusual(name, value, algorithm="PPO") is None


@pytest.mark.parametrize(("name", "value"), [("gamma", 0.99), ("learning_rate", 3e-4), ("log_std_init", -2.0)])
def test_a_place_gives_its_value_back(name: str, value: float) -> None:
    place = position(name, value)
    assert place is not None
    assert value_at(name, place) == pytest.approx(value)


@pytest.mark.parametrize(
    ("algorithm", "domain"),
    [("PPO", "on-policy"), ("SAC", "off-policy"), ("ARS", "evolution-strategies"), ("GRPO", "language-model"),
     ("MyOwn", "unknown")],
)  # fmt: skip
def test_an_algorithm_belongs_to_a_domain(algorithm: str, domain: str) -> None:
    assert domain_of_algorithm(algorithm) == domain
