"""The symptom that rules about settings ask for, and the counts they make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.facts.goal_status import barely_moved, failed, fell_short, goal_status_of, is_open
from rlclinic.facts.growth import growth
from rlclinic.facts.offline import is_offline
from rlclinic.facts.q_values import q_bound
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.update_count import expected_updates, updates_per_step
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.run import Status
from tests.rules.cases import HEALTHY, Healthy
from tests.rules.scene import fault, flat, recorded, rising, scene


@pytest.mark.parametrize("healthy", HEALTHY, ids=lambda healthy: healthy.name)
def test_no_healthy_run_has_failed(healthy: Healthy) -> None:
    assert not failed(recorded(healthy.name))


@pytest.mark.parametrize(
    "name",
    [
        "high_lr_ppo_cartpole",
        "high_lr_a2c_cartpole",
        "low_lr_ppo_cartpole",
        "late_start_dqn_cartpole",
        "frozen_target_dqn_cartpole",
        "hot_sac_pendulum",
        "low_gamma_ppo_cartpole",
        "many_epochs_ppo_cartpole",
    ],
)
def test_runs_that_learned_nothing_or_lost_it_have_failed(name: str) -> None:
    assert failed(fault(name))


def test_a_sparse_task_is_given_time() -> None:
    assert not failed(fault("sparse_ppo_mountaincar"))


def test_a_run_stopped_at_a_tenth_of_its_budget_has_not_failed() -> None:
    """constructed: the same flat return, finished and stopped."""
    series = {"return/train": flat()}
    assert failed(scene(series=series, budget=100_000))
    assert not failed(scene(series=series, budget=1_000_000, status=Status.INTERRUPTED))


def test_too_few_points_are_no_failure() -> None:
    """constructed: five points."""
    assert not failed(scene(series={"return/train": flat(points=5)}))


def test_a_run_is_open_when_its_budget_is_used_up_and_nothing_says_that_it_is_done() -> None:
    """constructed: one rising return against budgets and goals."""
    series = {"return/train": rising()}
    assert is_open(scene(series=series, budget=100_000))
    assert is_open(scene(series=series, threshold=400.0))
    assert not is_open(scene(series=series, budget=200_000))
    assert not is_open(scene(series=series, status=Status.INTERRUPTED))
    assert not is_open(scene(series=series, budget=100_000, threshold=150.0))


def told(series: dict[str, np.ndarray], goal: float, **more: float) -> RunFacts:
    return RunFacts(scene(series=series, budget=100_000, **more).run.with_goal(goal))


def test_a_run_fell_short_of_its_own_goal_however_near_and_whoever_names_it() -> None:
    """constructed: a return that rises to 200; a mean over 100 episodes, recorded, that still rises tells nobody."""
    series = {"return/train": rising()}
    assert fell_short(told(series, 220.0))
    assert fell_short(scene(series=series, budget=100_000, threshold=220.0))
    lagging = fault("healthy_dqn_cartpole").run
    assert not fell_short(RunFacts(lagging.with_goal(475.0)))
    assert not fell_short(RunFacts(replace(lagging, threshold=475.0)))
    assert fell_short(scene(series=series, budget=100_000, threshold=2000.0))


def test_a_run_at_its_goal_or_within_noise_of_it_did_not_fall_short() -> None:
    """constructed: the same return against goals below and just above its end, and in evaluation alone."""
    series = {"return/train": rising()}
    assert not fell_short(told(series, 150.0))
    assert not fell_short(told(series, float(series["return/train"][-5:].mean()) + 0.5))
    assert not fell_short(told({**series, "return/eval": np.full(12, 300.0)}, 250.0))


def test_a_run_that_lost_its_goal_again_did_not_lack_pace() -> None:
    """constructed: up to 200, then a quarter down."""
    curve = np.concatenate([np.linspace(20.0, 200.0, 40), np.linspace(200.0, 160.0, 20)])
    assert not fell_short(told({"return/train": curve}, 190.0))


@pytest.mark.parametrize("name", ["solved_ppo_cartpole", "fast_lr_ppo_cartpole"])
def test_a_run_at_its_goal_is_not_open(name: str) -> None:
    assert not is_open(fault(name))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(20.0, 30.0, True), (20.0, 60.0, False), (-100.0, -80.0, True), (-100.0, -30.0, False)],
)
def test_a_return_crept_that_neither_doubled_nor_halved_its_cost(start: float, end: float, *, expected: bool) -> None:
    """constructed: gains and costs."""
    assert barely_moved(scene(series={"return/train": rising(start, end)}, budget=100_000)) is expected


def test_an_evaluation_that_stands_still_crept_whatever_exploration_earns() -> None:
    """constructed: random actions find the goal now and then, the greedy policy never does."""
    series = {"return/train": rising(-0.8, -0.2), "return/eval": np.full(12, -0.8)}
    assert barely_moved(scene(series=series, budget=100_000))


def test_growth_does_not_depend_on_scale_or_density() -> None:
    """constructed: one curve, three ways of logging it."""
    curve = np.geomspace(1.0, 1000.0, 60)
    logged = [curve, 1e6 * curve, np.geomspace(1.0, 1000.0, 6000)]
    found = [growth(scene(series={"loss": values}).run.series["loss"]) for values in logged]
    factors = [grown.factor for grown in found if grown is not None]
    assert len(factors) == 3
    assert max(factors) / min(factors) < 1.2
    assert all(grown is not None and grown.steadiness > 0.99 for grown in found)


@pytest.mark.parametrize(
    ("config", "framework", "expected"),
    [
        ({"train_freq": 4, "gradient_steps": 1, "n_envs": 4}, "sb3", 1 / 16),
        ({"train_freq": 8, "gradient_steps": -1}, "sb3", 1.0),
        ({"train_freq": 10}, "cleanrl", 0.1),
        ({"train_freq": [1, "episode"], "gradient_steps": 1}, "sb3", None),
        ({"update_to_data": 20.0}, "torchrl", 20.0),
        ({"train_freq": 50}, "spinningup", None),
    ],
)
def test_updates_per_step_follow_the_framework(
    config: dict[str, object], framework: str, expected: float | None
) -> None:
    """constructed: spellings of several frameworks."""
    found = updates_per_step(scene(algorithm="DQN", framework=framework, config=config))
    assert found == (None if expected is None else pytest.approx(expected))


def test_updates_of_a_recorded_run_are_what_its_counter_shows() -> None:
    facts = fault("healthy_dqn_cartpole")
    counted = facts.run["updates"].highest
    assert counted is not None
    assert expected_updates(facts, facts.run.steps) == pytest.approx(counted, rel=0.02)


def test_a_task_that_pays_one_per_step_bounds_q_by_its_horizon() -> None:
    bound = q_bound(fault("healthy_dqn_cartpole"))
    assert bound is not None
    assert bound.value == pytest.approx(100.0)


def test_rewards_in_one_burst_bound_q_by_the_best_return() -> None:
    """constructed: returns that do not depend on length."""
    lengths = np.where(np.arange(60) % 2, 50.0, 500.0)
    series = {"return/train": rising(0.0, 80.0), "episode_length": lengths}
    bound = q_bound(scene(algorithm="DQN", series=series, config={"gamma": 0.9}))
    assert bound is not None
    assert bound.value == pytest.approx(max(series["return/train"]))


def test_offline_runs_are_told_from_runs_that_count_updates() -> None:
    assert is_offline(recorded("d3rlpy/cql_cartpole_offline/d3rlpy_logs/*"))
    assert not is_offline(recorded("d3rlpy/dqn_cartpole_online/d3rlpy_logs/*"))
    assert not is_offline(recorded("verl/grpo_v0.4"))


def test_a_run_is_slow_when_its_budget_is_used_up_and_the_goal_is_several_more_away() -> None:
    """constructed: one rising return against a near and a far goal, finished and at a tenth of its budget."""
    series = {"return/train": rising()}

    def slow(threshold: float, budget: int) -> bool:
        return goal_status_of(scene(series=series, budget=budget, threshold=threshold), Verdict.LEARNING).slow

    assert slow(100_000.0, 100_000)
    assert not slow(100_000.0, 1_000_000)
    assert not slow(1.1 * float(rising()[-1]), 100_000)


def test_a_goal_that_training_came_to_and_evaluations_did_not_is_missed_where_it_is_tried() -> None:
    """constructed: the same evaluations beside a training return above the goal and below it."""
    told = {"threshold": 180.0, "budget": 100_000.0}
    above, below = (
        goal_status_of(
            scene(series={"return/train": rising(20.0, end), "return/eval": np.tile([60.0, 90.0], 5)}, **told),
            Verdict.PLATEAUED,
        )
        for end in (200.0, 120.0)
    )
    assert above.missed
    assert above.reached_in_training_only
    assert below.missed
    assert not below.reached_in_training_only
