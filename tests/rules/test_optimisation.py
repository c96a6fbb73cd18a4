"""Rules about gradients, learning rates, losses and numbers that are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.optimisation import (
    dead_units_grow,
    gradient_norm_explodes,
    gradient_norm_vanishes,
    gradients_always_clipped,
    learning_rate_reaches_zero,
    logged_rate_differs,
    loss_diverges,
    not_a_number,
    part_gets_no_gradient,
)
from tests.rules.scene import fault, flat, recorded, rising, scene


def _printed(name: str, values: np.ndarray, decimals: int, caveat: str = "") -> Series:
    """A series as a log with few decimals shows it."""
    made = scene(series={name: np.round(values, decimals)}).run.series[name]
    return replace(made, decimals=decimals, caveat=caveat)


def test_a_gradient_that_explodes_beside_a_flat_return_is_an_error() -> None:
    """constructed: recorded runs end before their gradients do."""
    facts = scene(series={"grad_norm": np.geomspace(0.1, 1e5, 60), "return/train": flat()})
    found = gradient_norm_explodes.check(facts)
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.onset_step is not None
    assert found.onset_step > 30_000


def test_a_smaller_growth_counts_when_the_return_was_lost() -> None:
    """constructed: the same growth beside a return that fell and one that did not."""
    norm = np.geomspace(1.0, 20.0, 60)
    fell = np.concatenate([np.linspace(20.0, 200.0, 30), np.linspace(200.0, 25.0, 30)])
    assert gradient_norm_explodes.check(scene(series={"grad_norm": norm, "return/train": fell})) is not None
    assert gradient_norm_explodes.check(scene(series={"grad_norm": norm, "return/train": flat()})) is None


def test_a_gradient_that_grows_with_the_return_is_fine() -> None:
    """constructed: value errors grow as the return does."""
    facts = scene(series={"grad_norm": np.geomspace(0.1, 100.0, 60), "return/train": rising()})
    assert gradient_norm_explodes.check(facts) is None


def test_a_gradient_that_grows_with_q_is_explained_by_it() -> None:
    """constructed: Q on its way from its random start to its level."""
    grown = np.geomspace(0.1, 10.0, 60)
    series = {"grad_norm/critic": grown, "q/mean": -grown, "return/train": flat(-1000.0)}
    assert gradient_norm_explodes.check(scene(algorithm="TD3", series=series)) is None


def test_a_norm_after_clipping_says_nothing() -> None:
    """constructed: a clipped norm that grows to its clip."""
    norm = _printed("grad_norm", np.geomspace(0.001, 40.0, 60), 6, caveat="after clipping: never above grad_clip")
    assert gradient_norm_explodes.check(scene(series={"grad_norm": norm, "return/train": flat()})) is None


def test_a_policy_gradient_that_vanishes_after_a_collapse_is_seen() -> None:
    found = gradient_norm_vanishes.check(fault("high_lr_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "policy_grad_norm" in found.summary
    assert found.onset_step is not None


def test_gradients_of_a_solved_task_may_vanish() -> None:
    facts = fault("solved_ppo_cartpole")
    late, early = facts.late("grad_norm/critic"), facts.early("grad_norm/critic")
    assert late is not None
    assert early is not None
    assert late.value < 0.01 * early.value
    assert gradient_norm_vanishes.check(facts) is None


def test_a_critic_that_fitted_constant_returns_needs_no_gradient() -> None:
    facts = fault("constant_reward_ppo_cartpole")
    late, early = facts.late("grad_norm/critic"), facts.early("grad_norm/critic")
    assert late is not None
    assert early is not None
    assert late.value < 0.002 * early.value
    assert gradient_norm_vanishes.check(facts) is None


def test_a_printed_zero_is_only_known_to_be_below_its_rounding() -> None:
    """constructed: norms of 0.01 printed with three decimals."""
    fading = np.geomspace(0.01, 1e-9, 60)
    series = {"grad_norm": _printed("grad_norm", fading, 3), "return/train": flat()}
    assert gradient_norm_vanishes.check(scene(series=series)) is None
    assert gradient_norm_vanishes.check(scene(series={**series, "grad_norm": fading})) is not None


def test_a_clip_far_below_every_gradient_is_an_alarm() -> None:
    found = gradients_always_clipped.check(fault("tight_grad_clip_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[1].value == 1e-5


def test_a_tight_clip_is_a_note_when_the_return_rises() -> None:
    """constructed: two runs that differ in their return alone."""
    fields = {"config": {"max_grad_norm": 1e-3}}
    for returns, severity in ((flat(), Severity.WARNING), (rising(), Severity.INFO)):
        facts = scene(series={"grad_norm": flat(2.0), "return/train": returns}, **fields)
        found = gradients_always_clipped.check(facts)
        assert found is not None
        assert found.severity is severity
        assert found.evidence[0].value == pytest.approx(2000, rel=0.05)


def test_gradients_ten_times_above_the_clip_are_normal() -> None:
    facts = recorded("gymnasium_solver/runs/local-20260115-103000")
    norm = facts.level("grad_norm")
    assert norm is not None
    assert norm.value > 10 * 0.5
    assert gradients_always_clipped.check(facts) is None


def test_a_schedule_that_ends_long_before_the_run_is_an_alarm() -> None:
    """The rate of this run is gone at 20% of its 20,480 steps."""
    found = learning_rate_reaches_zero.check(fault("fading_lr_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step == pytest.approx(0.2 * 20_480, rel=0.2)


def test_a_schedule_that_ends_early_on_a_task_that_is_solved_is_a_note() -> None:
    """constructed: the same schedule on a run that reaches its threshold."""
    rate = 3e-4 * np.maximum(0.0, 1.0 - np.linspace(0.0, 3.0, 60))
    solved = np.concatenate([rising(20.0, 500.0, 20), np.full(40, 500.0)])
    found = learning_rate_reaches_zero.check(
        scene(series={"learning_rate": rate, "return/train": solved}, threshold=475.0)
    )
    assert found is not None
    assert found.severity is Severity.INFO


def test_a_linear_schedule_that_ends_with_the_run_is_fine() -> None:
    facts = recorded("zoo/ppo_cartpole/tb/CartPole-v1/PPO_1")
    assert facts.run["learning_rate"].values[-1] < 0.01 * 1e-3
    assert learning_rate_reaches_zero.check(facts) is None


def test_a_rate_printed_as_zero_is_not_known() -> None:
    facts = recorded("verl/grpo_v0.4")
    assert not np.any(facts.run["learning_rate"].values)
    assert learning_rate_reaches_zero.check(facts) is None


def test_losses_that_become_nan_for_good_are_an_error_with_the_first_one_named_first() -> None:
    """constructed: the order of onset is what is tested."""
    value, policy = np.ones(60), np.ones(60)
    value[40:], policy[42:] = np.nan, np.nan
    found = not_a_number.check(scene(series={"policy_loss": policy, "value_loss": value}))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.summary.startswith("log/value_loss, log/policy_loss are not finite to the end")
    assert found.onset_step == pytest.approx(100_000 * 41 / 60)


def test_one_nan_reward_that_reaches_the_weights_is_an_error() -> None:
    found = not_a_number.check(fault("nan_reward_dqn_cartpole"))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.onset_step is not None
    assert found.onset_step >= 8_000


def test_a_mean_over_episodes_that_ended_is_an_error_as_soon_as_it_is_no_number() -> None:
    returns = np.append(np.arange(30.0), np.nan)
    run = scene(series={"return/train": returns, "episode_length": np.full(31, 10.0)}).run
    windowed = replace(run.series["return/train"], window="last 100 episodes")
    diagnosis = diagnose(replace(run, series={**run.series, "return/train": windowed}))
    assert diagnosis.verdict is Verdict.UNSTABLE
    assert "is not a number after" in diagnosis.reason


@pytest.mark.parametrize(("points", "lengths", "told"), [(4, 10.0, True), (1, 10.0, False), (4, np.nan, False)])
def test_a_return_that_stays_undefined_though_it_was_a_number_is_an_error(
    points: int, lengths: float, *, told: bool
) -> None:
    """constructed: rewards of NaN; where lengths are undefined as well no episode has ended."""
    returns, ended = np.arange(12.0), np.full(12, 10.0)
    returns[-points:], ended[-points:] = np.nan, lengths
    facts = scene(series={"return/train": returns, "episode_length": ended, "policy_loss": np.ones(12)})
    found = not_a_number.check(facts)
    assert (found is not None and found.severity is Severity.ERROR) is told
    diagnosis = diagnose(facts.run)
    assert (diagnosis.verdict is Verdict.UNSTABLE and "is not a number after" in diagnosis.reason) is told


def test_one_missing_value_is_only_noted() -> None:
    """constructed: a single row that was not computed."""
    values = np.ones(60)
    values[20] = np.nan
    found = not_a_number.check(scene(series={"approx_kl": values, "policy_loss": np.ones(60)}))
    assert found is not None
    assert found.severity is Severity.INFO


def test_a_value_that_is_undefined_in_the_first_row_is_no_failure() -> None:
    facts = recorded("trl/console_v0.17")
    assert np.isnan(facts.run["kl_ref"].values[0])
    assert not_a_number.check(facts) is None


@pytest.mark.parametrize("name", ["explained_variance", "return/train", "episode_length"])
def test_values_that_may_be_undefined_are_no_failure(name: str) -> None:
    """constructed: rows without an ended episode, and constant returns."""
    values = np.ones(60)
    values[::3] = np.nan
    values[-5:] = np.nan
    assert not_a_number.check(scene(series={name: values, "policy_loss": np.ones(60)})) is None


def test_rows_before_the_first_update_and_metrics_never_defined_are_no_failure() -> None:
    """constructed: a standard deviation that a discrete policy does not have."""
    late = np.ones(60)
    late[:5] = np.nan
    series = {"policy_loss": late, "action_std/mean": np.full(60, np.nan)}
    assert not_a_number.check(scene(series=series)) is None


def test_losses_that_never_were_a_number_are_an_error() -> None:
    """constructed: NaN from the first update on."""
    found = not_a_number.check(scene(series={"policy_loss": np.full(20, np.nan), "value_loss": np.full(20, np.nan)}))
    assert found is not None
    assert found.severity is Severity.ERROR


def test_an_infinite_return_is_a_failure() -> None:
    """constructed: a reward that divides by zero."""
    returns = flat()
    returns[-4:] = np.inf
    assert not_a_number.check(scene(series={"return/train": returns})) is not None


def test_a_rate_that_never_comes_near_the_configured_one_is_an_alarm() -> None:
    """constructed: a key that another file overrides."""
    facts = scene(series={"learning_rate": np.full(30, 3e-4)}, config={"learning_rate": 3e-3})
    found = logged_rate_differs.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "3e-04" in found.summary or "0.0003" in found.summary


def test_a_default_that_the_user_never_set_is_not_held_against_the_log() -> None:
    """constructed: a framework's default beside a rate that a script gave it."""
    rates = {"learning_rate": np.full(30, 3e-3)}
    facts = scene(series=rates, config={"learning_rate": 1e-6}, defaults=("learning_rate",))
    assert logged_rate_differs.check(facts) is None


@pytest.mark.parametrize("course", [np.linspace(3e-3, 0.0, 30), np.linspace(0.0, 3e-3, 30), np.full(30, 2e-3)])
def test_decay_warm_up_and_small_factors_are_fine(course: np.ndarray) -> None:
    """constructed: courses that pass near the configured rate."""
    facts = scene(series={"learning_rate": course}, config={"learning_rate": 3e-3})
    assert logged_rate_differs.check(facts) is None


def test_an_adaptive_rate_at_its_floor_is_an_alarm_when_the_return_is_poor() -> None:
    """constructed: recorded adaptive schedules stay near their start."""
    config = {"learning_rate": 1e-3, "learning_rate_schedule": "adaptive"}
    rate = np.concatenate([np.geomspace(1e-3, 1e-5, 20), np.full(40, 1e-5)])
    for returns, severity in ((flat(), Severity.WARNING), (rising(), Severity.INFO)):
        found = logged_rate_differs.check(scene(series={"learning_rate": rate, "return/train": returns}, config=config))
        assert found is not None
        assert found.severity is severity


def test_a_policy_loss_that_runs_away_is_seen() -> None:
    """constructed: raw advantages of a diverging critic."""
    facts = scene(series={"policy_loss": -np.geomspace(0.01, 1e3, 60), "return/train": flat()})
    found = loss_diverges.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING


def test_a_total_loss_that_grows_with_the_return_is_fine() -> None:
    """constructed: the value loss inside it grows with the square of the return."""
    facts = scene(series={"loss": np.geomspace(0.01, 1e3, 60), "return/train": rising(1.0, 500.0)})
    assert loss_diverges.check(facts) is None


def test_the_actor_loss_of_a_q_learner_is_not_judged_here() -> None:
    """constructed: minus Q of a diverging critic."""
    series = {"policy_loss": -np.geomspace(0.01, 1e3, 60), "return/train": flat()}
    assert loss_diverges.check(scene(algorithm="SAC", series=series)) is None


def test_a_policy_loss_that_jumps_without_lasting_is_fine() -> None:
    """constructed: a spike."""
    loss = 0.01 * flat(1.0, noise=0.5)
    loss[50] = 100.0
    assert loss_diverges.check(scene(series={"policy_loss": loss, "return/train": flat()})) is None


def test_a_critic_without_any_gradient_is_an_alarm_even_where_the_return_rises() -> None:
    found = part_gets_no_gradient.check(fault("no_value_loss_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "value_grad_norm" in found.summary


@pytest.mark.parametrize(
    ("part", "returns", "severity"),
    [("value_head", flat(), Severity.ERROR), ("encoder", flat(), Severity.ERROR), ("encoder", rising(), Severity.INFO)],
)
def test_a_part_outside_the_optimiser_is_worse_when_the_return_is_poor(
    part: str, returns: np.ndarray, severity: Severity
) -> None:
    """constructed: an encoder may be frozen on purpose."""
    series = {"grad_norm": flat(1.0), f"grad_norm/{part}": np.zeros(60), "return/train": returns}
    found = part_gets_no_gradient.check(scene(series=series))
    assert found is not None
    assert found.severity is severity


@pytest.mark.parametrize("part", [np.concatenate([flat(0.5, 40), np.zeros(20)]), 1e-9 * np.ones(60)])
def test_a_part_with_small_or_lost_gradients_is_another_case(part: np.ndarray) -> None:
    """constructed: a part that lost its gradient later, and one whose gradient is tiny."""
    series = {"grad_norm/backbone": flat(0.9), "grad_norm/value_head": part}
    assert part_gets_no_gradient.check(scene(series=series)) is None


def test_a_policy_gets_no_gradient_where_its_norm_is_next_to_nothing() -> None:
    """constructed: the loss is detached and rounding is left; a critic beside which a policy only seems silent."""
    detached = {"grad_norm/actor": 2e-7 * np.ones(60), "grad_norm/critic": flat(0.1), "return/train": flat()}
    drowned = {"grad_norm/actor": flat(0.1), "grad_norm/critic": flat(1e6), "return/train": flat()}

    assert part_gets_no_gradient.check(scene(series=detached)) is not None
    assert part_gets_no_gradient.check(scene(series=drowned)) is None


def test_no_gradient_at_all_is_told_only_of_rewards_that_differ_within_groups() -> None:
    """constructed: all groups are tied, some are not, and a norm that is zero in most rows but not in all."""
    returns = {"return/train": flat(0.2)}
    silent = {**returns, "grad_norm": np.zeros(60)}
    mostly = {**returns, "grad_norm": np.where(np.arange(60) % 20 == 0, 0.3, 0.0)}

    assert part_gets_no_gradient.check(scene(series=silent)) is not None
    assert part_gets_no_gradient.check(scene(series={**silent, "zero_variance_groups": np.ones(60)})) is None
    assert part_gets_no_gradient.check(scene(series=mostly)) is None


def test_a_norm_printed_as_zero_beside_small_norms_is_not_known() -> None:
    """constructed: both parts are near the rounding."""
    series = {
        "grad_norm/backbone": _printed("grad_norm/backbone", 0.02 * np.ones(60), 3),
        "grad_norm/value_head": _printed("grad_norm/value_head", np.zeros(60), 3),
    }
    assert part_gets_no_gradient.check(scene(series=series)) is None


def test_units_that_die_are_an_alarm_when_the_return_is_poor() -> None:
    """constructed: units of the recorded networks stay alive."""
    dead = np.linspace(0.05, 0.7, 60)
    for returns, severity in ((flat(), Severity.WARNING), (rising(), Severity.INFO)):
        found = dead_units_grow.check(scene(series={"dead_units": dead, "return/train": returns}))
        assert found is not None
        assert found.severity is severity


def test_percent_and_share_of_dead_units_are_the_same() -> None:
    """constructed: one trainer logs percent."""
    dead = np.linspace(0.05, 0.7, 60)
    shares, percent = (scene(series={"dead_units": unit * dead}) for unit in (1.0, 100.0))
    first, second = dead_units_grow.check(shares), dead_units_grow.check(percent)
    assert first is not None
    assert second is not None
    assert first.summary == second.summary


def test_a_constant_share_of_dead_units_is_fine() -> None:
    """constructed: sparse from the start."""
    assert dead_units_grow.check(scene(series={"dead_units": flat(0.5), "return/train": flat()})) is None


def test_a_loss_that_no_training_comes_back_from_is_an_error_in_three_rows() -> None:
    """constructed: the last rows of a Q-learner that ran away, as pasted; a large loss beside large returns is none."""
    returns = np.array([-750.0, -620.0, -250.0])
    found = loss_diverges.check(
        scene(algorithm="DQN", series={"loss": np.array([3e23, 2e24, 1e26]), "return/train": returns})
    )
    assert found is not None
    assert found.severity is Severity.ERROR
    fine = {"loss": np.array([3e13, 2e13, 1e13]), "return/train": 1e4 * returns}
    assert loss_diverges.check(scene(algorithm="DQN", series=fine)) is None


def test_the_last_of_few_points_is_enough_and_those_before_the_first_update_are_not() -> None:
    """constructed: three pasted tables of which the last has no number; a first row before any update."""
    found = not_a_number.check(scene(series={"approx_kl": np.array([1e-3, 9e-4, np.nan])}))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert not_a_number.check(scene(series={"approx_kl": np.array([np.nan])})) is None
    many = np.r_[np.full(99, 1e-3), np.nan]
    found = not_a_number.check(scene(series={"approx_kl": many}))
    assert found is not None
    assert found.severity is Severity.INFO


def test_a_return_that_is_lost_with_the_rewards_of_its_steps_is_an_error_at_once() -> None:
    """constructed: an environment that breaks; a last row in which no episode ended has a reward per step."""
    returns = np.array([-1338.0, -647.0, -339.0, -132.0, np.nan])
    found = not_a_number.check(scene(series={"return/train": returns, "reward": returns / 200}))
    assert found is not None
    assert found.severity is Severity.ERROR
    steps = np.array([-6.7, -3.2, -1.7, -0.7, -0.6])
    assert not_a_number.check(scene(series={"return/train": returns, "reward": steps})) is None


def test_where_no_return_is_logged_a_loss_that_runs_away_is_told_by_itself() -> None:
    """constructed: the losses alone, as they are pasted."""
    grows, spike = np.geomspace(5.0, 2.6e6, 9), np.array([7.0, 6e21, 11.0, 33.0])
    told = [
        loss_diverges.check(scene(algorithm=algorithm, series={"value_loss": values}))
        for algorithm, values in (("", grows), ("", spike), ("PPO", grows), ("", np.geomspace(1e-6, 1.0, 9)))
    ]
    assert [found and found.severity for found in told] == [Severity.WARNING, Severity.ERROR, None, None]
    beside = scene(algorithm="DQN", series={"value_loss": spike, "return/train": np.linspace(0.0, 9.0, 4)})
    assert loss_diverges.check(beside) is None


def test_of_few_rows_an_infinite_loss_and_a_return_that_is_no_number_are_enough() -> None:
    """constructed: a model's own loss, and means over episodes that ended."""
    infinite = scene(series={"value_loss": np.ones(3), "model_loss": np.array([5e3, 1e5, np.inf])})
    assert not_a_number.check(infinite) is not None
    row = {"return/train": np.full(2, np.nan), "loss": np.full(2, np.nan)}
    assert not_a_number.check(scene(series={**row, "episode_length": np.ones(2)})) is not None
    assert not_a_number.check(scene(series={"return/train": row["return/train"], "loss": np.ones(2)})) is None
