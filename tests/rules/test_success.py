"""Rules on the goal: a positive, a near miss and healthy runs for each."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Severity
from rlclinic.model.run import RETURN_METRICS, Run, Status
from rlclinic.rules.success import (
    below_goal,
    far_below_published,
    goal_reached,
    no_better_than_random,
    slow_to_goal,
)
from tests.rules.scene import fault, flat, recorded, rising, scene

RULES = (goal_reached, below_goal, slow_to_goal, no_better_than_random, far_below_published)


def test_a_solved_run_says_when_it_reached_the_threshold() -> None:
    result = goal_reached.check(fault("solved_ppo_cartpole"))
    assert result is not None
    assert result.onset_step == 17_408
    assert "reached 475 (the threshold of CartPole) at 17,408 env steps and ended at 500" in result.summary
    assert below_goal.check(fault("solved_ppo_cartpole")) is None


def test_an_evaluation_that_holds_the_threshold_counts_as_reached() -> None:
    result = goal_reached.check(recorded("sb3/ppo_cartpole"))
    assert result is not None
    assert "eval/mean_reward reached 475" in result.summary
    assert below_goal.check(recorded("sb3/ppo_cartpole")) is None


def test_evaluations_whose_mean_is_not_surely_at_the_threshold_do_not_hold_it() -> None:
    """The middle one of the last evaluations is above it, and so is their mean, by less than chance makes."""
    climb = np.linspace(20.0, 480.0, 9)
    for end, is_held in (([500.0, 440, 500, 440, 500, 500, 440], False), ([480.0] * 7, True)):
        facts = scene(environment="CartPole-v1", series={"return/eval": np.concatenate([climb, end])})
        assert (goal_reached.check(facts) is not None) is is_held


def test_the_episodes_of_evaluations_are_pooled_where_these_are_of_one_policy() -> None:
    """The same means, of evaluations whose episodes differ by much, by little, or not by what their number explains."""
    climb = np.linspace(20.0, 480.0, 9)
    means = np.concatenate([climb, [476.0, 470, 476, 470, 476, 470, 464]])
    for spread, is_held in ((10.0, True), (90.0, False), (None, True)):
        series = {"return/eval": means}
        if spread is not None:
            series["return/eval_std"] = np.full(means.size, spread)
        details = {"return/eval": {"window": "10 episodes"}}
        facts = scene(environment="CartPole-v1", series=series, details=details)
        assert (goal_reached.check(facts) is not None) is is_held


def test_two_lucky_evaluations_do_not_reach_a_threshold() -> None:
    """constructed: luck cannot be trained."""
    values = [20.0, 30, 500, 40, 50, 60, 50, 500, 70, 60]
    facts = scene(environment="CartPole-v1", series={"return/eval": values})
    assert goal_reached.check(facts) is None


def test_a_threshold_that_was_reached_and_lost_is_not_held() -> None:
    """constructed: the recorded run that loses its task had it made harder."""
    values = np.concatenate([rising(20, 490, 40), np.linspace(490, 200, 20)])
    facts = scene(environment="CartPole-v1", series={"return/train": values})
    assert goal_reached.check(facts) is None
    result = below_goal.check(facts)
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "reached at" in result.summary
    assert "and lost" in result.summary


def test_the_gap_is_given_in_units_and_in_percent_of_the_way() -> None:
    result = below_goal.check(recorded("gymnasium_solver/runs/local-20260115-103000"))
    assert result is not None
    assert result.severity is Severity.INFO
    assert "ended at 153.8, 321.2 below the run's own threshold (475): 29% of the way up from 22.2" in result.summary
    assert result.evidence[0].value < (result.evidence[0].threshold or 0)


def test_a_gap_is_a_note_while_published_runs_needed_longer_and_a_warning_after() -> None:
    """constructed: the same flat curve, short and long."""
    short = scene(environment="CartPole-v1", series={"return/train": flat(150)}, steps=20_000)
    long = scene(environment="CartPole-v1", series={"return/train": flat(150)}, steps=200_000)
    seen = [below_goal.check(facts) for facts in (short, long)]
    assert [result.severity for result in seen if result] == [Severity.INFO, Severity.WARNING]


def test_a_goal_met_twenty_times_later_than_published_is_slow() -> None:
    """constructed: it would take a run of a million steps."""
    values = np.concatenate([flat(30, 100), rising(30, 500, 10), np.full(20, 500.0)])
    slow = scene(environment="CartPole-v1", series={"return/train": values}, steps=1_300_000)
    result = slow_to_goal.check(slow)
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "a published PPO run on CartPole needed 40,000" in result.summary
    near = scene(environment="CartPole-v1", series={"return/train": values}, steps=180_000)
    assert slow_to_goal.check(near) is None


@pytest.mark.parametrize("name", ["low_lr_ppo_cartpole", "high_lr_ppo_cartpole", "late_start_dqn_cartpole"])
def test_a_run_that_learned_nothing_is_no_better_than_random(name: str) -> None:
    result = no_better_than_random.check(fault(name))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "random actions get 22.2" in result.summary


def test_a_short_run_at_the_random_level_is_not_blamed() -> None:
    assert no_better_than_random.check(recorded("sb3/ppo_cartpole_killed")) is None
    assert no_better_than_random.check(recorded("sb3/ppo_pendulum")) is None


def test_returns_on_another_scale_are_not_held_against_the_task() -> None:
    """constructed: a wrapper that multiplies rewards by 100."""
    facts = scene(environment="CartPole-v1", series={"return/train": 100 * flat(22)}, steps=100_000)
    assert [rule.check(facts) for rule in RULES] == [None] * len(RULES)


def test_a_wrapper_that_shrinks_rewards_shrinks_the_goal() -> None:
    facts = fault("small_reward_ppo_cartpole")
    result = below_goal.check(facts)
    assert result is not None
    assert "the threshold of CartPole, scaled by 0.0001 like its rewards (0.04751)" in result.summary
    assert [rule.check(facts) for rule in RULES if rule is not below_goal] == [None] * (len(RULES) - 1)


def test_a_return_that_stays_below_random_needs_no_more_time() -> None:
    result = no_better_than_random.check(fault("high_lr_a2c_cartpole"))
    assert result is not None
    assert "ended at 9.26 after 32,000 env steps" in result.summary
    assert result.evidence[1].value < (result.evidence[1].threshold or 0)


def test_a_met_threshold_far_below_the_best_published_return_is_noted() -> None:
    """constructed: HalfCheetah takes hours to train."""
    values = np.concatenate([rising(-280, 5000, 30), flat(5000, 40)])
    facts = scene(environment="HalfCheetah-v4", algorithm="SAC", series={"return/train": values}, steps=1_000_000)
    result = far_below_published.check(facts)
    assert result is not None
    assert result.severity is Severity.INFO
    assert "1.209e+04" in result.summary
    near = scene(environment="HalfCheetah-v4", algorithm="SAC", series={"return/train": values}, steps=50_000)
    assert far_below_published.check(near) is None


def test_an_unknown_task_without_a_threshold_is_not_judged() -> None:
    """constructed: the same run without the name of its environment."""
    facts = scene(series={"return/train": flat(22)}, status=Status.FINISHED)
    assert [rule.check(facts) for rule in RULES] == [None] * len(RULES)


RANKS = {Verdict.SOLVED: 0, Verdict.LEARNING: 1, Verdict.PLATEAUED: 2, Verdict.INSUFFICIENT_DATA: 2}


def verdicts(run: Run) -> list[int]:
    """How good the verdict is for goals from below all returns to beyond them; 3 is a failure."""
    values = np.concatenate([run.series[name].values for name in RETURN_METRICS if name in run.series])
    goals = np.linspace(values.min() - 0.1 * np.ptp(values), values.max() + 0.3 * np.ptp(values), 12)
    return [RANKS.get(diagnose(run, goal=float(goal)).verdict, 3) for goal in goals]


@pytest.mark.parametrize(
    "name", ["sb3/ppo_cartpole", "faults/watched_ppo_cartpole", "faults/constant_reward_ppo_cartpole"]
)
def test_a_higher_goal_makes_no_verdict_better_where_training_and_evaluations_differ(name: str) -> None:
    found = verdicts(recorded(name).run)
    assert found == sorted(found)


@pytest.mark.parametrize("seed", range(8))
def test_a_higher_goal_makes_no_verdict_better(seed: int) -> None:
    """constructed: a training return and evaluations that climb, level off, swing or wander apart from each other."""
    rng = np.random.default_rng(seed)
    series = {}
    for name, points in (("return/train", 60), ("return/eval", 7 + 2 * seed)):
        t = np.linspace(0.0, 1.0, points)
        shapes = (400.0 * t, np.minimum(900.0 * t, 450.0), 450.0 - 600.0 * np.abs(t - 0.6), np.full(points, 100.0))
        series[name] = shapes[rng.integers(4)] + rng.normal(0.0, rng.choice([2.0, 20.0, 80.0]), points)
    found = verdicts(scene(environment="CartPole-v1", series=series).run)
    assert found == sorted(found)
