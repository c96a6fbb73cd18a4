"""Rules on the course of the return: a positive, a near miss and healthy runs for each."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.convergence import (
    large_swings,
    lucky_last_evaluation,
    never_improved,
    plateau_below_goal,
    regression_from_best,
    return_collapse,
    return_exactly_constant,
    still_rising_at_end,
)
from tests.rules.scene import fault, flat, recorded, rising, scene


def test_a_flat_stretch_after_a_climb_is_a_plateau() -> None:
    result = plateau_below_goal.check(recorded("wandb/finished/wandb/*"))
    assert result is not None
    assert result.severity is Severity.INFO
    assert "rose from -1872 and has stayed at -29.87 since 16,453 env steps" in result.summary
    assert result.onset_step == 16_453


def test_a_plateau_below_a_known_goal_is_a_warning_once_the_run_had_its_steps() -> None:
    """constructed: one curve over few and over many steps."""
    values = np.concatenate([rising(20, 150, 20), flat(150, 40)])
    short = scene(environment="CartPole-v1", series={"return/train": values}, steps=30_000)
    long = scene(environment="CartPole-v1", series={"return/train": values}, steps=300_000)
    seen = [plateau_below_goal.check(facts) for facts in (short, long)]
    assert [result.severity for result in seen if result] == [Severity.INFO, Severity.WARNING]


def test_a_plateau_at_the_goal_is_success() -> None:
    assert plateau_below_goal.check(fault("solved_ppo_cartpole")) is None
    assert plateau_below_goal.check(recorded("trackio/frozenlake.db")) is None


def test_success_in_nearly_every_episode_is_no_plateau() -> None:
    """constructed: the same curve, once up to 0.98 and once up to 0.6."""
    share = np.concatenate([rising(0.1, 0.98, 20), np.full(40, 0.98)]).clip(0, 1)
    assert plateau_below_goal.check(scene(series={"return/train": share})) is None
    assert plateau_below_goal.check(scene(series={"return/train": share * 0.6})) is not None


def test_a_return_that_rises_to_the_end_is_still_rising() -> None:
    result = still_rising_at_end.check(fault("rising_ppo_cartpole"))
    assert result is not None
    assert result.severity is Severity.INFO
    assert "over the last third of the run" in result.summary
    assert still_rising_at_end.check(fault("solved_ppo_cartpole")) is None
    assert still_rising_at_end.check(recorded("wandb/finished/wandb/*")) is None


def test_a_rising_run_with_budget_left_says_how_likely_it_reaches_its_goal() -> None:
    """constructed: training cannot be asked for a run that is on its way at a given step."""
    noise = 0.3 * np.random.default_rng(3).normal(size=80)
    curve = np.linspace(0, 40, 80) + noise
    near = scene(series={"return/train": curve}, steps=40_000, budget=100_000, threshold=45.0)
    far = scene(series={"return/train": curve}, steps=40_000, budget=45_000, threshold=500.0)
    spent = scene(series={"return/train": curve}, steps=40_000, budget=40_000, threshold=70.0)
    said = [found.summary for facts in (near, far, spent) if (found := still_rising_at_end.check(facts))]
    likely, unlikely = (re.search(r"a chance of (\d+)%", summary) for summary in said[:2])
    assert likely is not None
    assert int(likely[1]) > 50
    assert "about step" in said[0]
    assert unlikely is not None
    assert int(unlikely[1]) < 10
    assert "chance" not in said[2]


def test_a_steady_rise_in_strong_noise_is_still_rising() -> None:
    """constructed: noise of a known size."""
    noise = 0.25 * np.random.default_rng(3).standard_normal(60)
    assert still_rising_at_end.check(scene(series={"return/train": np.linspace(0, 1, 60) * 3 + noise}))


def test_repeated_losses_and_recoveries_are_swings() -> None:
    """constructed: swings of a known size."""
    up, down = np.linspace(20, 200, 15), np.linspace(200, 60, 10)
    values = np.concatenate([up, down, np.linspace(60, 200, 10), down, np.linspace(60, 190, 10)])
    result = large_swings.check(scene(series={"return/train": values}))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "2 such falls in this run" in result.summary


def test_too_many_epochs_make_the_return_swing() -> None:
    result = large_swings.check(fault("many_epochs_ppo_cartpole"))
    assert result is not None
    assert result.severity is Severity.WARNING


def test_one_dip_that_is_won_back_is_a_note_and_a_small_one_nothing() -> None:
    """constructed: dips of a known depth."""
    up = np.linspace(20, 200, 20)
    deep = np.concatenate([up, np.linspace(200, 90, 8), np.linspace(90, 230, 20)])
    small = np.concatenate([up, np.linspace(200, 150, 8), np.linspace(150, 230, 20)])
    result = large_swings.check(scene(series={"return/train": deep}))
    assert result is not None
    assert result.severity is Severity.INFO
    assert large_swings.check(scene(series={"return/train": small})) is None


def test_a_fall_at_the_very_start_is_no_swing() -> None:
    """constructed: costs add up once episodes get longer, then the return rises."""
    values = np.concatenate([np.linspace(-20, -34, 6), np.linspace(-34, -4, 50)])
    assert large_swings.check(scene(series={"return/train": values})) is None


def test_an_end_well_below_the_best_is_a_regression() -> None:
    """constructed: losses of a known size."""
    climb = np.linspace(20, 200, 30)
    lost = scene(series={"return/train": np.concatenate([climb, np.linspace(200, 110, 30)])})
    mild = scene(series={"return/train": np.concatenate([climb, np.linspace(200, 150, 30)])})
    kept = scene(series={"return/train": np.concatenate([climb, np.linspace(200, 185, 30)])})
    seen = [regression_from_best.check(facts) for facts in (lost, mild, kept)]
    assert [result.severity if result else None for result in seen] == [Severity.WARNING, Severity.INFO, None]


@pytest.mark.parametrize("points", [12, 20, 60])
def test_one_bad_last_evaluation_is_no_regression(points: int) -> None:
    """constructed: a single bad point."""
    values = rising(20, 200, points)
    values[-1] = 20.0
    facts = scene(series={"return/eval": values})
    assert regression_from_best.check(facts) is None
    assert return_collapse.check(facts) is None


@pytest.mark.parametrize("name", ["sb3/ppo_cartpole_high_lr", "faults/high_lr_ppo_cartpole"])
def test_a_destroyed_policy_fell_back_to_its_start(name: str) -> None:
    result = return_collapse.check(recorded(name))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert result.onset_step is not None
    assert 0 < result.onset_step < 12_288
    assert regression_from_best.check(recorded(name)) is None


def test_a_pretrained_policy_that_is_destroyed_fell_below_its_start() -> None:
    """constructed: a level that holds and is then lost, as of a language model."""
    values = np.concatenate([flat(0.5, 25), np.linspace(0.5, 0.1, 10), flat(0.1, 20)])
    result = return_collapse.check(scene(series={"return/train": values}))
    assert result is not None
    assert "for the first fifth of the run" in result.summary
    assert never_improved.check(scene(series={"return/train": values})) is None


def test_a_start_that_was_luck_is_no_lost_level() -> None:
    for name in ("sb3/ppo_pendulum", "sb3/sac_pendulum", "sb3/td3_pendulum"):
        assert return_collapse.check(recorded(name)) is None


def test_costs_of_longer_episodes_are_no_collapse() -> None:
    """constructed: episodes that get five times longer at half the cost per step."""
    length = np.concatenate([np.full(25, 20.0), np.linspace(20, 100, 10), np.full(25, 100.0)])
    cost = np.where(length > 50, -0.5, -1.0)
    facts = scene(series={"return/train": length * cost, "episode_length": length})
    assert return_collapse.check(facts) is None
    assert never_improved.check(facts) is None
    alone = scene(series={"return/train": length * cost})
    assert return_collapse.check(alone) is not None


def test_single_successes_on_a_sparse_task_are_no_collapse() -> None:
    """constructed: one success in a hundred episodes, at random."""
    for seed in range(10):
        values = (np.random.default_rng(seed).random(600) < 0.01).astype(float)
        facts = scene(series={"return/train": values})
        assert return_collapse.check(facts) is None


def test_a_run_whose_updates_never_start_did_not_improve() -> None:
    result = never_improved.check(fault("late_start_dqn_cartpole"))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "began at 21.58 and ended at 22.2 after 20,000 env steps" in result.summary


def test_a_short_run_is_not_said_to_never_improve() -> None:
    for name in ("sb3/ppo_pendulum", "sb3/sac_pendulum", "sb3/td3_pendulum", "sb3/ppo_cartpole_killed"):
        assert never_improved.check(recorded(name)) is None


def test_a_small_but_sure_gain_is_an_improvement() -> None:
    """constructed: a gain of two percent in little noise."""
    values = np.linspace(0.740, 0.765, 50) + 0.002 * np.random.default_rng(0).standard_normal(50)
    assert never_improved.check(scene(series={"return/train": values})) is None
    assert never_improved.check(scene(series={"return/train": flat(0.74, 200)})) is not None


def test_a_resumed_run_that_stays_where_it_was_is_only_noted() -> None:
    """constructed: a log that begins at half of its steps."""
    steps = np.linspace(500_000, 1_000_000, 60)
    series = Series("return/train", "r", steps, flat(150))
    result = never_improved.check(scene(series={"return/train": series}, steps=1_000_000))
    assert result is not None
    assert result.severity is Severity.INFO


def test_a_last_evaluation_out_of_line_is_called_lucky() -> None:
    """constructed: luck cannot be trained."""
    before = flat(100, 11, noise=0.03)
    lucky = scene(series={"return/eval": np.append(before, 400.0)})
    climbing = scene(series={"return/eval": np.geomspace(10, 400, 12)})
    usual = scene(series={"return/eval": np.append(before, 108.0)})
    assert lucky_last_evaluation.check(lucky) is not None
    assert lucky_last_evaluation.check(climbing) is None
    assert lucky_last_evaluation.check(usual) is None


def test_a_reward_that_is_never_seen_is_a_constant_return() -> None:
    result = return_exactly_constant.check(fault("zero_reward_ppo_cartpole"))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "is 0 at all 40 points" in result.summary


def test_a_sparse_task_is_given_a_hundred_episodes() -> None:
    whole = fault("sparse_ppo_mountaincar").run
    early = replace(whole, steps=15_000.0)
    results = [return_exactly_constant.check(RunFacts(run)) for run in (early, whole)]
    assert [result.severity for result in results if result] == [Severity.INFO, Severity.WARNING]


def test_a_constant_return_may_be_success_or_early() -> None:
    """constructed: constants of known meaning, except for the first."""
    offline = return_exactly_constant.check(recorded("d3rlpy/cql_cartpole_offline/d3rlpy_logs/*"))
    assert offline is not None
    assert offline.severity is Severity.INFO
    early = scene(series={"return/train": np.zeros(15)})
    solved = scene(environment="CartPole-v1", series={"return/train": np.full(40, 500.0)})
    moved = scene(series={"return/train": np.append(np.zeros(40), 1e-9)})
    seen = [return_exactly_constant.check(facts) for facts in (early, solved, moved)]
    assert [result.severity if result else None for result in seen] == [Severity.INFO, None, None]


def test_a_number_with_digits_is_met_four_times_by_no_chance() -> None:
    """constructed: returns of four episodes."""
    seen = [return_exactly_constant.check(scene(series={"return/train": np.full(4, pay)})) for pay in (-0.065, -1.0)]
    assert [result and result.severity for result in seen] == [Severity.INFO, None]
    mean = {"return/train": {"window": "last 100 episodes"}}
    assert return_exactly_constant.check(scene(series={"return/train": np.full(4, -0.065)}, details=mean)) is None


def test_a_constant_that_was_rounded_says_so() -> None:
    """constructed: a console that prints two decimals."""
    series = Series("return/train", "r", np.arange(50.0), np.zeros(50), decimals=2)
    result = return_exactly_constant.check(scene(series={"return/train": series}))
    assert result is not None
    assert result.severity is Severity.INFO
    assert "2 decimals" in result.summary


def test_what_training_alone_loses_to_rare_penalties_is_a_note_beside_evaluations_that_hold() -> None:
    """constructed: one episode in a hundred costs a fortune; the evaluated policy learns, or does not."""
    struck = np.concatenate([np.linspace(-30.0, -10.0, 25), np.full(35, -170.0)])
    learned, lost = np.concatenate([[-12.0, -7.0], np.full(8, -4.0)]), np.full(10, -30.0) + np.arange(10) % 2
    severities = [
        found.severity
        for evaluated in (learned, lost)
        if (found := return_collapse.check(scene(series={"return/train": struck, "return/eval": evaluated})))
    ]
    assert severities == [Severity.INFO, Severity.WARNING]
    found = [
        never_improved.check(scene(series={"return/train": flat(-30.0), **more}))
        for more in ({}, {"return/eval": learned})
    ]
    assert [one.severity for one in found if one] == [Severity.WARNING, Severity.INFO]
