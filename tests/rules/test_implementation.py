"""Rules on the implementation. Constructed: no trainer at hand has these bugs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.implementation import (
    critic_worsens_on_steady_returns,
    entropy_out_of_range,
    loss_exactly_zero,
    q_ignores_episode_ends,
    ratio_never_moves,
    ratio_off_before_any_step,
    worse_than_random,
)
from tests.rules.scene import POINTS, Values, around, fault, flat, line, recorded, rising, scene

ONE_STEP = {"learning_rate": 3e-4, "n_epochs": 1, "n_steps": 128, "n_envs": 4, "batch_size": 512}
MANY_STEPS = {"learning_rate": 3e-4, "n_epochs": 10, "n_steps": 128, "n_envs": 4, "batch_size": 64}
RULES = (
    critic_worsens_on_steady_returns,
    entropy_out_of_range,
    loss_exactly_zero,
    q_ignores_episode_ends,
    ratio_never_moves,
    ratio_off_before_any_step,
    worse_than_random,
)


@pytest.mark.parametrize(
    "name", ["sb3/ppo_cartpole", "sb3/a2c_cartpole", "sb3/dqn_cartpole", "faults/solved_ppo_cartpole"]
)
def test_a_trainer_without_bugs_is_not_suspected(name: str) -> None:
    assert [rule.__name__ for rule in RULES if rule.check(recorded(name)) is not None] == []


def test_a_ratio_that_is_off_before_the_only_step_is_an_error() -> None:
    found = ratio_off_before_any_step.check(scene(series={"approx_kl": np.full(POINTS, 0.3)}, config=ONE_STEP))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.summary == (
        "log/approx_kl is 0.3 although the ratio is measured before the only gradient step on a batch"
    )


def test_a_ratio_that_is_off_with_a_rate_of_nothing_is_an_error() -> None:
    config = {**MANY_STEPS, "learning_rate": 1e-10}
    found = ratio_off_before_any_step.check(scene(series={"clip_fraction": flat(0.2)}, config=config))
    assert found is not None
    assert "80 gradient steps of learning rate 1e-10 cannot move the policy that far" in found.summary


@pytest.mark.parametrize(
    ("kl", "config"),
    [(flat(0.3), MANY_STEPS), (flat(1e-9), ONE_STEP), (flat(0.3), {"learning_rate": 3e-4})],
    ids=["many steps", "float noise", "steps unknown"],
)
def test_a_ratio_may_be_off_after_steps_or_by_rounding(kl: Values, config: dict[str, object]) -> None:
    assert ratio_off_before_any_step.check(scene(series={"approx_kl": kl}, config=config)) is None


def test_a_ratio_that_never_moves_under_many_steps_is_an_error_and_entropy_tells_why() -> None:
    still: dict[str, Values] = {"approx_kl": np.zeros(POINTS), "entropy": np.full(POINTS, 0.69)}
    frozen = ratio_never_moves.check(scene(series=still, config=MANY_STEPS))
    moving = ratio_never_moves.check(scene(series={**still, "entropy": line(0.69, 0.4)}, config=MANY_STEPS))
    assert frozen is not None
    assert moving is not None
    assert "nothing moves at all" in frozen.summary
    assert "old log-probability seems to be computed anew" in moving.summary


def test_a_ratio_of_one_is_right_with_one_step_and_unknown_where_it_is_rounded() -> None:
    zeros: dict[str, Values] = {"approx_kl": np.zeros(POINTS)}
    assert ratio_never_moves.check(scene(series=zeros, config=ONE_STEP)) is None
    rounded = scene(series=zeros, config=MANY_STEPS, details={"approx_kl": {"decimals": 3}})
    assert ratio_never_moves.check(rounded) is None


@pytest.mark.parametrize("level", [-0.5, 1.2])
def test_an_entropy_that_no_choice_between_two_actions_has_is_a_warning(level: float) -> None:
    found = entropy_out_of_range.check(scene(series={"entropy": flat(level)}, config={"n_actions": 2}))
    assert found is not None
    assert "a choice among 2 actions has 0 to 0.693" in found.summary


def test_an_entropy_at_its_bound_or_of_a_density_is_legal() -> None:
    uniform = scene(series={"entropy": np.full(POINTS, math.log(2.0) + 1e-4)}, config={"n_actions": 2})
    assert entropy_out_of_range.check(uniform) is None
    assert entropy_out_of_range.check(scene(series={"entropy": flat(-2.0)})) is None


def _short_episodes(q_end: float) -> dict[str, Values]:
    lengths = around(20.0, 3.0)
    return {
        "return/train": lengths,
        "episode_length": lengths,
        "q/mean": np.minimum(line(0, 3 * q_end, noise=0), q_end),
    }


def test_values_of_endless_episodes_on_short_ones_point_to_the_done_mask() -> None:
    found = q_ignores_episode_ends.check(scene(algorithm="DQN", series=_short_episodes(100.0), config={"gamma": 0.99}))
    assert found is not None
    assert "stays at 100, which is the pay of 1 per step over 1 - gamma" in found.summary
    assert found.severity is Severity.INFO


def test_a_state_value_of_endless_episodes_is_an_error() -> None:
    series = {name.replace("q/", "value/"): values for name, values in _short_episodes(100.0).items()}
    found = q_ignores_episode_ends.check(scene(series=series, config={"gamma": 0.99}))
    assert found is not None
    assert found.severity is Severity.ERROR


@pytest.mark.parametrize(("level", "gamma"), [(15.0, 0.99), (10.0, 0.9)], ids=["right values", "horizon within reach"])
def test_values_that_episodes_can_earn_are_fine(level: float, gamma: float) -> None:
    facts = scene(algorithm="DQN", series=_short_episodes(level), config={"gamma": gamma})
    assert q_ignores_episode_ends.check(facts) is None


def _unlearning(returns: Values) -> dict[str, Values]:
    return {
        "return/train": returns,
        "explained_variance": line(-0.1, -3.0),
        "value_loss": np.geomspace(1.0, 50.0, POINTS),
    }


def test_a_critic_that_gets_worse_on_steady_returns_has_wrong_targets() -> None:
    found = critic_worsens_on_steady_returns.check(scene(series=_unlearning(flat(20.0))))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_a_critic_may_get_worse_while_returns_move_or_the_policy_jumps() -> None:
    assert critic_worsens_on_steady_returns.check(scene(series=_unlearning(line(20, 200)))) is None
    jumping = {**_unlearning(flat(20.0)), "approx_kl": flat(0.5)}
    assert critic_worsens_on_steady_returns.check(scene(series=jumping)) is None


def test_a_return_that_sinks_step_by_step_below_random_is_learned_backwards() -> None:
    found = worse_than_random.check(scene(environment="CartPole-v1", series={"return/train": line(24.0, 9.4)}))
    assert found is not None
    assert "random actions get 22.2" in found.summary


def test_a_fall_at_once_by_jumps_or_by_less_exploration_is_not_learned_backwards() -> None:
    sinking = line(24.0, 9.4)
    at_once = np.concatenate([line(24.0, 9.4, 5), flat(9.4, POINTS - 5)])
    for series in (
        {"return/train": at_once},
        {"return/train": sinking, "approx_kl": flat(0.9)},
        {"return/train": sinking, "epsilon": line(1.0, 0.05)},
        {"return/train": line(60.0, 30.0)},
    ):
        assert worse_than_random.check(scene(environment="CartPole-v1", series=series)) is None


def test_off_policy_a_fall_that_was_over_before_the_first_evaluation_is_a_jump() -> None:
    """constructed: actions at their bounds after the first updates; the mean over past episodes falls on for long."""
    falling = {"return/train": line(-45.0, -93.0), "return/eval": flat(-108.0, 10, noise=0.0)}
    sinking = {**falling, "return/eval": line(-45.0, -108.0, 10)}
    told = [
        worse_than_random.check(scene(algorithm="TD3", environment="Reacher-v5", series=series)) is not None
        for series in (falling, sinking)
    ]
    assert told == [False, True]


def test_jumps_that_come_after_the_fall_do_not_excuse_it() -> None:
    """constructed: a policy driven the wrong way leaves its clip once it is lost."""
    late_jumps = np.concatenate([flat(0.004, 15), flat(2.0, POINTS - 15)])
    found = worse_than_random.check(
        scene(environment="CartPole-v1", series={"return/train": line(24.0, 9.4), "approx_kl": late_jumps})
    )

    assert found is not None


def test_a_small_slide_of_a_return_is_not_learned_backwards() -> None:
    """constructed: clear of its noise, and a tenth of its level."""
    assert worse_than_random.check(scene(series={"return/train": line(1.0, 0.87, noise=0.001)})) is None


def test_a_kl_of_nothing_without_a_config_counts_in_a_run_that_does_badly() -> None:
    """constructed: the log counts several passes over each rollout."""
    passes = {"approx_kl": np.zeros(POINTS), "updates": 8.0 * np.arange(1, POINTS + 1)}

    assert ratio_never_moves.check(scene(series={**passes, "return/train": flat()})) is not None
    assert ratio_never_moves.check(scene(series={**passes, "return/train": rising()})) is None


def test_an_untrained_q_network_that_acts_less_at_random_is_not_learned_backwards() -> None:
    assert worse_than_random.check(fault("low_lr_dqn_cartpole")) is None


def test_a_value_loss_of_exactly_zero_on_returns_that_differ_is_a_fault_of_the_log() -> None:
    series: dict[str, Values] = {
        "value_loss": np.zeros(POINTS),
        "policy_loss": np.zeros(POINTS),
        "return/train": flat(),
    }
    found = loss_exactly_zero.check(scene(series=series))
    assert found is not None
    assert found.summary == "log/value_loss and log/policy_loss is exactly 0 at all 60 points while returns differ"


def test_a_recorded_run_whose_value_loss_is_not_logged_is_named() -> None:
    assert loss_exactly_zero.check(fault("silent_loss_ppo_cartpole")) is not None


def test_a_printed_zero_a_switched_off_critic_and_equal_returns_are_no_fault_of_the_log() -> None:
    series: dict[str, Values] = {"value_loss": np.zeros(POINTS), "return/train": flat()}
    assert loss_exactly_zero.check(scene(series=series, details={"value_loss": {"decimals": 3}})) is None
    assert loss_exactly_zero.check(scene(series=series, config={"vf_coef": 0.0})) is None
    assert loss_exactly_zero.check(scene(series={**series, "return/train": np.full(POINTS, 5.0)})) is None
