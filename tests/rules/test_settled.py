"""The first points of a training return that know only the shortest episodes are left out."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.facts.settled import settled
from rlclinic.judgement.verdict import verdict
from tests.rules.scene import scene

ENVIRONMENTS, LENGTH, STEP = 32, 40.0, 512.0


def _goal_reaching(points: int = 60) -> dict[str, np.ndarray]:
    """A policy that never changes: the few episodes that end at once are the successes."""
    wobble = 0.05 * np.sin(np.arange(points))
    returns, lengths = np.full(points, -0.6) + wobble, np.full(points, LENGTH)
    returns[:4], lengths[:4] = (1.7, 1.2, 0.6, 0.1), (12.0, 22.0, 33.0, 38.0)
    return {"return/train": returns, "episode_length": lengths}


def test_a_policy_that_never_moved_has_not_collapsed() -> None:
    series = _goal_reaching()
    told = scene(series=series, config={"n_envs": ENVIRONMENTS}, steps=60 * STEP)
    alone = scene(series=series, config={"n_envs": 1}, steps=60 * STEP)

    assert told.curve is not None
    assert alone.curve is not None
    assert told.curve.start == pytest.approx(-0.6, abs=0.1)
    assert alone.curve.start > 0.5
    assert verdict(told, ())[0].value != "collapsed"


def test_the_number_of_environments_follows_from_the_counters_where_no_config_tells_it() -> None:
    series = _goal_reaching()
    steps = np.linspace(STEP, 60 * STEP, 60)
    facts = scene(series={**series, "vec_steps": steps / ENVIRONMENTS}, steps=60 * STEP)

    kept = settled(facts.run)

    assert kept is not None
    assert kept.steps[0] >= 2 * ENVIRONMENTS * LENGTH
    assert len(kept) >= 50


def test_a_start_that_takes_a_good_part_of_the_run_is_its_course() -> None:
    growing = np.linspace(20.0, 500.0, 60)
    facts = scene(series={"return/train": growing, "episode_length": growing}, config={"n_envs": 256}, steps=60 * STEP)

    assert settled(facts.run) is facts.run.returns


def test_an_evaluation_has_no_such_start() -> None:
    series = _goal_reaching()
    facts = scene(
        series={"return/eval": series["return/train"], "episode_length": series["episode_length"]},
        config={"n_envs": ENVIRONMENTS},
        steps=60 * STEP,
    )

    assert settled(facts.run) is facts.run.returns


def test_rows_in_which_one_early_end_is_all_that_is_known_are_left_out() -> None:
    """constructed: sixteen environments of which one ends at once, as in a task whose goal was near by chance."""
    series = _goal_reaching()
    returns, lengths, episodes = series["return/train"], series["episode_length"], np.arange(60) * STEP / LENGTH
    returns[:6], lengths[:6], episodes[:6] = 1.7, 1.0, 1.0
    facts = scene(series={**series, "episodes": episodes}, config={"n_envs": 16}, steps=60 * STEP)

    assert facts.returns is not None
    assert facts.returns.steps[0] == pytest.approx(7 * STEP)
    assert facts.returns.values.max() < 0.0
