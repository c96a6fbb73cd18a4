"""Rules on what the logged returns mean: a positive, a near miss and healthy runs for each."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.run import Status
from rlclinic.model.series import Series
from rlclinic.rules.evaluation import (
    evaluation_noise_hides_trend,
    evaluation_of_old_policy,
    evaluations_fell,
    evaluations_never_move,
    few_evaluations,
    return_is_per_step,
    return_not_there,
    train_eval_gap,
)
from tests.rules.scene import Values, fault, flat, line, recorded, rising, scene

# Healthy trainings whose logs still deserve a warning: one evaluates an untrained copy, one has no Monitor.
STALE, SILENT = "gymnasium_solver/runs/local-20260115-103000", "sb3/ppo_cartpole_no_monitor"


def pair(evaluation: np.ndarray, *, train: np.ndarray | None = None) -> RunFacts:
    """A training return that climbs from 20 to 200, and an evaluation beside it."""
    return scene(series={"return/train": rising() if train is None else train, "return/eval": evaluation})


def test_an_evaluation_that_stays_behind_parts_from_training() -> None:
    """constructed: no recorded run forgets its normaliser at evaluation."""
    behind = np.concatenate([np.linspace(20, 60, 8), np.full(12, 60.0)])
    result = train_eval_gap.check(pair(behind))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "log/return/eval is 60" in result.summary


def test_a_better_greedy_policy_or_a_little_gap_is_no_parting() -> None:
    """constructed: gaps of a known size."""
    assert train_eval_gap.check(pair(np.linspace(20, 260, 20))) is None
    assert train_eval_gap.check(pair(np.linspace(20, 165, 20))) is None


def test_returns_in_another_unit_do_not_part() -> None:
    """constructed: clipped scores differ from the first point on."""
    assert train_eval_gap.check(pair(np.linspace(2, 8, 20), train=rising(150, 400))) is None


def test_the_greedy_version_of_a_policy_that_is_about_uniform_is_no_parting() -> None:
    """constructed: the same gap with a policy that hardly prefers an action, and with one that does."""
    behind = np.concatenate([np.linspace(20, 60, 8), np.full(12, 60.0)])
    returns = {"return/train": rising(), "return/eval": behind}
    uniform = scene(series={**returns, "entropy": flat(1.36, noise=0.001)}, config={"n_actions": 4})
    decided = scene(series={**returns, "entropy": line(1.36, 0.3)}, config={"n_actions": 4})

    assert train_eval_gap.check(uniform) is None
    assert train_eval_gap.check(decided) is not None


def test_a_mean_that_lags_behind_a_falling_policy_is_no_parting() -> None:
    """constructed: evaluations show the fall first."""
    fell = np.concatenate([np.linspace(20, 200, 30), np.linspace(200, 110, 30)])
    early = np.concatenate([np.linspace(20, 200, 10), np.full(10, 100.0)])

    assert train_eval_gap.check(pair(early, train=fell)) is None


def test_few_evaluations_that_scatter_part_where_all_of_them_fall_short() -> None:
    """constructed: an untrained greedy policy does worse than a random one, and later ones swing below training."""
    swings = np.array([-40.0, -30.0, 0.0, 10.0, 40.0, 90.0, 100.0, 20.0, 60.0])

    assert train_eval_gap.check(pair(swings)) is not None


def test_a_greedy_policy_that_times_out_beside_short_training_episodes_is_an_old_one() -> None:
    """constructed: every training episode arrives, no evaluated one does."""
    arrives = {
        "return/train": rising(0.1, 1.8),
        "return/eval": np.full(10, -0.8),
        "episode_length": np.linspace(40, 8, 60),
        "episode_length/eval": np.full(10, 40.0),
    }

    assert evaluation_of_old_policy.check(scene(series=arrives)) is not None


def test_an_old_policy_is_seen_in_a_task_whose_episodes_are_all_of_one_length() -> None:
    """constructed: every episode lasts fifty steps; the copy of the first moment plays the same ones each time."""
    same = {
        "return/train": rising(-30.0, -4.0),
        "return/eval": np.full(9, -29.0),
        "episode_length": np.full(60, 50.0),
        "episode_length/eval": np.full(9, 50.0),
    }

    assert evaluation_of_old_policy.check(scene(series=same)) is not None
    assert evaluation_of_old_policy.check(scene(series={**same, "return/train": flat(-29.0)})) is None


def test_a_return_per_step_is_known_by_its_ends_where_its_mean_lags_behind() -> None:
    """constructed: evaluations improve at once, the mean over the last episodes follows."""
    evaluated = np.concatenate([[-1020.0], np.full(9, -180.0)])
    lagging = {"return/train": line(-6.0, -1.3), "return/eval": evaluated, "episode_length": flat(200.0)}

    assert return_is_per_step.check(scene(series=lagging)) is not None
    assert return_is_per_step.check(scene(series={**lagging, "return/train": line(-1200.0, -260.0)})) is None


def test_the_reader_knows_that_an_untrained_copy_is_evaluated() -> None:
    result = evaluation_of_old_policy.check(recorded(STALE))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "the evaluated policy is the untrained one" in result.summary


def test_an_evaluation_that_never_moves_is_of_an_old_policy() -> None:
    """constructed: a frozen copy on a deterministic task."""
    assert evaluation_of_old_policy.check(pair(np.full(10, 22.0))) is not None


def test_a_constant_evaluation_at_the_top_is_of_a_solved_task() -> None:
    """constructed: the greedy policy solves the task before the exploring one does."""
    assert evaluation_of_old_policy.check(pair(np.full(10, 500.0))) is None
    assert evaluation_of_old_policy.check(pair(np.full(10, 22.0), train=flat(20))) is None


def test_a_policy_that_never_arrives_is_not_an_old_one() -> None:
    """constructed: exploration finds the goal, the greedy policy runs into the time limit every time."""
    lengths = np.linspace(40, 25, 60)
    lost = {"return/train": rising(-0.8, -0.3), "return/eval": np.full(10, -0.8), "episode_length": lengths}
    timed_out = {**lost, "episode_length/eval": np.full(10, 40.0)}
    assert evaluation_of_old_policy.check(scene(series=timed_out)) is None
    fell_over = {**lost, "episode_length/eval": np.full(10, 9.0)}
    assert evaluation_of_old_policy.check(scene(series=fell_over)) is not None


def test_other_caveats_do_not_make_an_evaluation_stale() -> None:
    assert recorded("search_r1/grpo").run["return/eval"].caveat
    assert evaluation_of_old_policy.check(recorded("search_r1/grpo")) is None


def test_losses_without_a_return_are_reported() -> None:
    result = return_not_there.check(recorded(SILENT))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert "31 points of train/policy_gradient_loss and other training metrics, but no return" in result.summary


def test_a_return_that_is_never_a_number_is_reported() -> None:
    """constructed: an environment whose episodes never end."""
    facts = scene(series={"return/train": np.full(30, np.nan), "policy_loss": flat(1)})
    result = return_not_there.check(facts)
    assert result is not None
    assert "undefined at all 30 points" in result.summary


@pytest.mark.parametrize("updates", [2.0, 195.0])
def test_one_row_after_many_updates_says_that_no_return_comes(updates: float) -> None:
    """constructed: the last table of a console."""
    series = {"return/train": np.array([np.nan]), "policy_loss": np.array([0.1]), "updates": np.array([updates])}
    result = return_not_there.check(scene(series=series))
    assert (result is not None and "after 195 updates" in result.summary) is (updates > 5)


def test_the_first_rows_of_a_run_that_goes_on_may_come_before_its_first_episode_ends() -> None:
    """constructed: a run that still trains, and the same after its end."""
    series = {"policy_loss": flat(1)[:2], "updates": np.array([10.0, 20.0])}
    assert return_not_there.check(scene(series=series, status=Status.RUNNING)) is None
    assert return_not_there.check(scene(series=series)) is not None


def test_one_row_whose_episodes_have_neither_return_nor_length_says_that_none_ended() -> None:
    """constructed: the only row of a status."""
    row = {"return/train": np.full(1, np.nan), "episode_length": np.full(1, np.nan)}
    result = return_not_there.check(scene(series=row))
    assert result is not None
    assert "no episode may have ended" in result.summary
    assert return_not_there.check(scene(series={**row, "episode_length": np.full(1, 40.0)})) is None


def test_names_that_could_be_a_return_are_offered() -> None:
    """constructed: a home-made name."""
    mine = Series("my/score", "my/score", np.arange(30.0), np.arange(30.0))
    result = return_not_there.check(scene(series={"my/score": mine, "policy_loss": flat(1)}))
    assert result is not None
    assert "could be one: my/score" in result.summary


def test_supervised_training_and_an_empty_log_lack_no_return() -> None:
    assert return_not_there.check(recorded("verl/supervised_not_rl")) is None
    assert return_not_there.check(recorded("edge/aborted_start")) is None


def test_few_evaluations_are_counted() -> None:
    result = few_evaluations.check(recorded("search_r1/grpo"))
    assert result is not None
    assert result.severity is Severity.INFO
    assert "val/test_score/tiny was logged 3 times, critic/score/mean 60 times" in result.summary
    assert few_evaluations.check(recorded("sb3/ppo_cartpole")) is None


def test_evaluations_that_jump_by_their_whole_climb_hide_the_trend() -> None:
    result = evaluation_noise_hides_trend.check(recorded("sb3/ppo_cartpole"))
    assert result is not None
    assert result.severity is Severity.INFO
    assert evaluation_noise_hides_trend.check(recorded("d3rlpy/dqn_cartpole_online/d3rlpy_logs/*")) is None


def test_evaluations_that_fell_are_an_alarm_where_the_mean_of_past_episodes_still_rises() -> None:
    found = evaluations_fell.check(fault("forgetting_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "is lost; train/roll/ep_rew/mean does not show it" in found.summary


@pytest.mark.parametrize(
    "evaluations",
    [
        np.linspace(20.0, 400.0, 20),
        np.r_[np.linspace(20.0, 400.0, 19), 20.0],
        np.where(np.arange(20) % 2, 400.0, 60.0),
        np.linspace(400.0, 20.0, 8),
    ],
    ids=["rising", "one bad last", "scattered", "few"],
)
def test_evaluations_that_rise_scatter_or_miss_once_have_not_fallen(evaluations: Values) -> None:
    """constructed: one of the conditions is missing."""
    facts = scene(series={"return/train": line(20.0, 200.0), "return/eval": evaluations})
    assert evaluations_fell.check(facts) is None


def test_a_best_level_at_the_very_end_is_not_lost() -> None:
    """constructed: twelve evaluations of which only the last is good, and the same with the good ones in the middle."""
    late = np.array([-0.8] * 11 + [-0.1])
    middle = np.array([-0.8] * 3 + [0.8] * 5 + [-0.8] * 5)
    found = [evaluations_fell.check(pair(values, train=rising(-0.8, 0.3))) for values in (late, middle)]
    assert found[0] is None
    assert found[1] is not None


def test_evaluations_that_wander_by_a_part_of_their_level_have_not_fallen() -> None:
    """constructed: a policy that hardly moves on the same few episodes, and one that lost what it had learned."""
    wandering = np.concatenate([[73.0, 76.0, 79.0, 79.0, 79.0], np.full(10, 72.0)])
    lost = np.concatenate([[23.0, 126.0, 179.0, 179.0, 179.0], np.full(10, 72.0)])

    assert evaluations_fell.check(pair(wandering, train=flat(22.0))) is None
    assert evaluations_fell.check(pair(lost, train=flat(22.0))) is not None


def test_evaluations_that_never_move_say_nothing_beside_a_training_that_surely_declines() -> None:
    """constructed: a policy at the ends of its actions, and noise that costs more and more."""
    noise = np.random.default_rng(3).normal(0.0, 2.0, 60)
    for returns, found in ((np.full(60, -80.0), True), (np.linspace(-50.0, -94.0, 60), False)):
        series = {
            "return/train": returns + noise,
            "return/eval": np.full(10, -108.1234),
            "return/eval_std": np.ones(10),
        }
        result = evaluations_never_move.check(scene(algorithm="TD3", series=series))
        assert (result is not None) is found
