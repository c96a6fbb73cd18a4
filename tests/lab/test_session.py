"""A run is solved where other episodes confirm it: one evaluation may be lucky."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlclinic.lab.evaluation import evaluate
from rlclinic.lab.folder import create_folder
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.session import Session
from rlclinic.model.run import Status
from rlclinic.readers.state import running_here
from tests.lab.environments import small


def left(observations: Any) -> Any:
    return np.zeros(len(observations), int)


@pytest.fixture(scope="module")
def lucky() -> tuple[Recipe, float, float]:
    """A recipe whose first evaluation of a poor policy does better than its second, and both means."""
    for seed in range(20):
        recipe = small("PPO", seed=seed)
        first, second = evaluate(recipe, left).mean, evaluate(recipe, left, seed=seed + recipe.eval_episodes).mean
        if first > second:
            return recipe, first, second
    raise AssertionError("no seed is lucky")


def stopped(recipe: Recipe, place: Path, **fields: object) -> Session:
    folder = create_folder(place, replace(recipe, stop_at_threshold=True, **fields), {})
    session = Session(folder.recipe(), folder, running_here(), None, None)
    session.after_update(recipe.eval_every, dict, left, lambda *_: None)
    return session


def test_one_lucky_evaluation_does_not_end_a_run(lucky: tuple[Recipe, float, float], tmp_path: Path) -> None:
    recipe, first, second = lucky
    session = stopped(recipe, tmp_path, threshold=(first + second) / 2)
    assert session.last_evaluation is not None
    assert session.last_evaluation.mean == first
    assert session.stop_reason is None
    assert f"is not confirmed ({first:.2f} and {second:.2f})" in (session.folder.path / "run.log").read_text()


def test_two_evaluations_on_other_episodes_end_it(lucky: tuple[Recipe, float, float], tmp_path: Path) -> None:
    recipe, first, second = lucky
    session = stopped(recipe, tmp_path, threshold=second)
    assert session.stop_reason is not None
    status, reason = session.stop_reason
    assert status is Status.FINISHED
    assert f"{first:.2f} and {second:.2f} reached the threshold" in reason


def test_a_run_that_is_to_use_its_budget_is_not_stopped(lucky: tuple[Recipe, float, float], tmp_path: Path) -> None:
    recipe, _, second = lucky
    assert stopped(recipe, tmp_path, threshold=second - 1.0).stop_reason is not None
    folder = create_folder(tmp_path / "all", replace(recipe, threshold=second - 1.0, stop_at_threshold=False), {})
    session = Session(folder.recipe(), folder, running_here(), None, None)
    session.after_update(recipe.eval_every, dict, left, lambda *_: None)
    assert session.stop_reason is None
