"""Runs that differ in their seeds alone."""

from __future__ import annotations

import pytest

from rlclinic.comparison.interquartile_mean import interquartile_mean
from rlclinic.comparison.seeds import same_config
from tests.comparison.builders import curve, run

FLAT = curve(50)


def test_runs_of_one_config_are_found_whatever_their_seeds() -> None:
    runs = [run("a", FLAT, seed=1), run("b", FLAT, seed=2, settings={"gamma": 0.9}), run("c", FLAT, seed=3)]
    assert same_config(runs) == [[0, 2], [1]]


def test_the_same_seed_twice_is_no_second_seed() -> None:
    assert same_config([run("a", FLAT, seed=1), run("b", FLAT, seed=1)]) == [[0], [1]]


def test_a_seed_of_an_odd_type_is_compared_like_any_other() -> None:
    odd = [run(name, FLAT, settings={"seed": seed}) for name, seed in (("a", [1]), ("b", [1]), ("c", [2]))]
    assert same_config(odd) == [[0, 2], [1]]


def test_other_environments_and_budgets_are_other_configs() -> None:
    runs = [run("a", FLAT), run("b", FLAT, seed=1, environment="Other-v0"), run("c", FLAT, seed=2, steps=5_000.0)]
    assert same_config(runs) == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("values", "mean"),
    [([5.0], 5.0), ([1.0, 3.0], 2.0), ([0.0, 1.0, 2.0, 1000.0], 1.5), ([9.0, 9.0, 9.0, 9.0, -500.0], 9.0)],
)
def test_the_interquartile_mean_leaves_the_outer_quarters_out(values: list[float], mean: float) -> None:
    assert interquartile_mean(values) == pytest.approx(mean)
