"""Whether the return gives a reason to look for a fault, and where a condition begins to last."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.engine import diagnose
from rlclinic.facts.return_state import (
    ended_below_start,
    has_fallen,
    is_flat,
    missed_goal,
    reached_goal,
    return_name,
    suffers,
    usual_rise,
)
from rlclinic.facts.stretch import lasting_from, longest, moving_median
from rlclinic.model.diagnosis import Verdict
from tests.rules.scene import fault, flat, recorded, rising, scene

FELL = np.concatenate([np.linspace(20.0, 200.0, 30), np.linspace(200.0, 15.0, 30)])


@pytest.mark.parametrize("name", ["low_lr_ppo_cartpole", "tight_clip_ppo_cartpole", "deaf_ppo_cartpole"])
def test_a_mean_over_100_episodes_that_wanders_at_the_random_level_is_flat(name: str) -> None:
    assert is_flat(fault(name))


@pytest.mark.parametrize("path", ["sb3/ppo_cartpole", "faults/rising_ppo_cartpole", "faults/healthy_ppo_acrobot"])
def test_a_return_that_climbs_does_not_suffer(path: str) -> None:
    assert not suffers(recorded(path))


def test_a_return_that_climbed_and_was_lost_has_fallen() -> None:
    """constructed: a clean rise and fall."""
    facts = scene(series={"return/train": FELL})
    assert has_fallen(facts)
    assert suffers(facts)
    assert not ended_below_start(scene(series={"return/train": rising()}))


def test_a_run_at_its_goal_is_neither_flat_nor_fallen() -> None:
    """constructed: a run that begins solved; and the same returns on an unknown task."""
    returns = {"return/train": flat(495.0, noise=0.005)}
    assert reached_goal(scene(series=returns, environment="CartPole-v1"))
    assert not is_flat(scene(series=returns, environment="CartPole-v1"))
    assert is_flat(scene(series=returns))


def test_a_goal_that_no_evaluation_comes_near_is_missed_whatever_exploration_gets() -> None:
    """constructed: the exploring policy is above the goal, its greedy version far below, or above it now and then."""
    trained = rising(20.0, 200.0)
    short, lucky = np.tile([60.0, 90.0], 5), np.tile([60.0, 190.0], 5)
    told = {"threshold": 180.0, "budget": 100_000.0}
    fails, mixed, alone = (
        scene(series={"return/train": trained, **more}, **told)
        for more in ({"return/eval": short}, {"return/eval": lucky}, {})
    )

    assert missed_goal(fails)
    assert not reached_goal(fails)
    assert reached_goal(alone)
    assert not missed_goal(mixed)


def test_the_goal_of_a_task_does_not_hold_for_rewards_on_another_scale() -> None:
    facts = fault("large_reward_ppo_cartpole")
    assert not reached_goal(facts)
    assert is_flat(facts)


def test_evidence_names_the_return_that_is_judged() -> None:
    """constructed: a run that only evaluates."""
    assert return_name(scene(series={"return/eval": flat()})) == "return/eval"


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_rare_disasters_do_not_hide_that_an_ordinary_episode_rose(seed: int) -> None:
    """constructed: costs that shrink to a tenth, and a quarter of the episodes that cost many times as much."""
    chance = np.random.default_rng(seed)
    values = -40.0 - 460.0 * np.exp(-np.arange(120.0) / 12.0) + chance.normal(0.0, 30.0, 120)
    bad = chance.random(120) < 0.25
    bad[:14] = False
    values[bad] -= chance.exponential(1200.0, bad.sum())
    facts = scene(series={"return/train": values}, framework="unknown", algorithm="")
    found = diagnose(facts.run)
    assert found.verdict is Verdict.UNSTABLE
    assert "the median of log/return/train was -3" in found.reason


def test_a_gain_beyond_the_noise_is_not_said_to_be_noise() -> None:
    """constructed: one bad point at the start, and the same return ever after."""
    values = np.full(25, -3540.0)
    values[0] = -6050.0
    found = diagnose(scene(series={"return/train": values}, framework="unknown", algorithm="").run)
    assert found.verdict is Verdict.NOT_LEARNING
    assert "no more than noise" not in found.reason


@pytest.mark.parametrize("seed", range(20))
def test_a_level_return_with_rare_disasters_rose_nowhere(seed: int) -> None:
    """constructed: noise that remembers half of what it was, and outliers."""
    noise = np.random.default_rng(seed).normal(0.0, 30.0, 120)
    values = -100.0 + np.convolve(noise, 0.5 ** np.arange(8), "same")
    values[::13] = -2200.0
    assert usual_rise(scene(series={"return/train": values})) is None


def test_the_longest_stretch_is_found_wherever_it_lies() -> None:
    assert longest(np.array([True, False, True, True, False])) == (2, 4)
    assert longest(np.array([False, False])) is None


def test_a_condition_lasts_from_where_few_exceptions_follow() -> None:
    mask = np.array([True] * 5 + [False] * 5 + [True] * 30)
    mask[25] = False
    assert lasting_from(np.arange(40.0), mask) == 10.0
    assert lasting_from(np.arange(3.0), np.array([True, True, False])) is None


def test_a_moving_median_ignores_one_spike() -> None:
    values = np.zeros(20)
    values[7] = 100.0
    assert moving_median(values, 3).max() == 0.0
    assert moving_median(values[:2], 3).size == 0
