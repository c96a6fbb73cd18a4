"""What separates good runs from bad ones, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.comparison.patterns import Observation, separations


def observed(rates: list[float], scores: list[float], **others: list[object]) -> list[Observation]:
    return [
        Observation({"learning_rate": rate, **{key: values[index] for key, values in others.items()}}, score)
        for index, (rate, score) in enumerate(zip(rates, scores, strict=True))
    ]


def test_a_setting_that_decides_is_found_with_its_split_and_size() -> None:
    rates = [1e-4, 3e-4, 1e-3, 3e-4, 1e-3, 1e-2, 3e-2, 1e-1, 1e-2, 1e-2]
    scores = [200.0, 210.0, 190.0, 205.0, 195.0, 30.0, 20.0, 10.0, 25.0, 15.0]
    (found,) = separations(observed(rates, scores))
    assert found.key == "learning_rate"
    assert (found.better, found.worse) == ("at most 0.001", "at least 0.01")
    assert (found.better_count, found.worse_count) == (5, 5)
    assert found.effect == 1.0
    assert found.difference == pytest.approx(180.0, abs=6.0)
    assert found.sure


def test_a_perfect_split_of_few_runs_is_not_sure() -> None:
    (found,) = separations(observed([1e-4] * 3 + [1e-2] * 3, [9.0, 8.0, 7.0, 1.0, 2.0, 3.0]))
    assert found.effect == 1.0
    assert not found.sure


def test_chance_is_called_chance_even_with_many_settings_to_pick_from() -> None:
    random = np.random.default_rng(4)
    sure = 0
    for _ in range(20):
        settings = {f"s{index}": random.integers(0, 4, 16).tolist() for index in range(8)}
        found = separations(observed([1e-3] * 16, random.standard_normal(16).tolist(), **settings))
        sure += any(item.sure for item in found)
    assert sure <= 3


def test_settings_that_changed_together_are_said_to_be_confounded() -> None:
    rates = [1e-4] * 4 + [1e-2] * 4
    scores = [100.0, 110.0, 105.0, 108.0, 20.0, 25.0, 22.0, 19.0]
    found = {item.key: item for item in separations(observed(rates, scores, gamma=[0.99] * 4 + [0.9] * 4))}
    assert found["learning_rate"].confounded == ("gamma",)
    assert found["gamma"].confounded == ("learning_rate",)


def test_a_value_that_only_two_runs_have_is_not_judged() -> None:
    assert separations(observed([1e-4] * 6 + [1e-2] * 2, [1.0] * 8)) == ()


def test_words_are_split_one_against_the_others() -> None:
    kinds: list[object] = ["relu"] * 4 + ["tanh"] * 4
    (found,) = separations(observed([1e-3] * 8, [1.0, 2.0, 1.5, 1.2, 9.0, 8.0, 9.5, 8.5], activation=kinds))
    assert (found.key, found.better, found.worse) == ("activation", "'tanh'", "'relu'")


def test_the_interval_holds_the_effect() -> None:
    random = np.random.default_rng(7)
    scores = [*(random.standard_normal(12) + 1.0), *random.standard_normal(12)]
    (found,) = separations(observed([1e-4] * 12 + [1e-2] * 12, scores))
    assert found.low <= found.effect <= found.high
    assert found.low < found.high
