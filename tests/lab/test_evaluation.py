"""Evaluation: whole episodes, fixed seeds, nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlclinic.lab import evaluation
from rlclinic.lab.evaluation import evaluate
from tests.lab.environments import small

RECIPE = small("PPO")


def left(observations: Any) -> Any:
    return np.zeros(len(observations), int)


def by_pole(observations: Any) -> Any:
    return (observations[:, 2] + observations[:, 3] > 0).astype(int)


def test_the_same_policy_gets_the_same_episodes_each_time() -> None:
    first, second = evaluate(RECIPE, left, episodes=5), evaluate(RECIPE, left, episodes=5)
    assert np.array_equal(first.returns, second.returns)
    assert len(set(first.returns)) > 1


def test_more_episodes_than_environments_are_played_in_turns() -> None:
    many = evaluate(RECIPE, left, episodes=evaluation.TOGETHER + 3)
    few = evaluate(RECIPE, left, episodes=3)
    assert many.returns.size == evaluation.TOGETHER + 3
    assert np.array_equal(many.returns[:3], few.returns)


def test_a_better_policy_scores_higher_and_its_ends_are_told() -> None:
    good, bad = evaluate(RECIPE, by_pole, episodes=4), evaluate(RECIPE, left, episodes=4)
    assert good.mean > 10 * bad.mean
    assert (bad.truncated.max(), good.truncated.mean()) == (0.0, float((good.lengths == 500).mean()))


def test_another_seed_of_the_recipe_means_other_episodes() -> None:
    other = evaluate(RECIPE.with_changes({"seed": 5}), left, episodes=5)
    assert not np.array_equal(other.returns, evaluate(RECIPE, left, episodes=5).returns)


def test_an_environment_without_an_end_is_cut_off(monkeypatch: Any) -> None:
    monkeypatch.setattr(evaluation, "LONGEST", 50)
    endless = small("PPO", "tests.lab.environments:Faulty", env_kwargs={"at": 10**6, "length": 10**6})
    found = evaluate(endless, left, episodes=2)
    assert found.lengths.tolist() == [50, 50]
    assert found.truncated.tolist() == [1, 1]
