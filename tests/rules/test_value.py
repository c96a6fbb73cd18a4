"""Rules about the critic: what it explains, at which scale, and whether the numbers mean anything."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.facts.critic import returns_vary, target_scale
from rlclinic.model.finding import Severity
from rlclinic.rules.value import (
    advantages_extreme,
    constant_returns_hide_critic,
    critic_explains_nothing,
    explained_variance_fell,
    explained_variance_negative,
    returns_too_large_for_critic,
    value_clip_small_against_returns,
    value_loss_grows,
    value_loss_not_falling,
    value_offset,
)
from tests.rules.scene import FELL, around, fault, flat, recorded, rising, scene


def test_the_spread_of_returns_follows_from_loss_and_explained_variance() -> None:
    """constructed: returns with a standard deviation of 5, of which the critic explains 0.75."""
    series = {"value_loss": np.full(20, 25.0 * 0.25), "explained_variance": np.full(20, 0.75)}
    assert target_scale(scene(series=series)) == pytest.approx(5.0)


# The rule explained-variance-negative.


def test_a_critic_that_is_worse_than_a_constant_is_an_alarm() -> None:
    found = explained_variance_negative.check(fault("untrained_critic_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    # constructed: no recorded run rises beside such a critic
    series = {"explained_variance": around(-0.6, 0.2), "value_loss": around(40.0, 4.0), "return/train": rising()}
    noted = explained_variance_negative.check(scene(series=series))
    assert noted is not None
    assert noted.severity is Severity.INFO


def test_a_critic_that_recovers_from_its_first_updates_is_fine() -> None:
    """constructed: -1e6 in the first updates, as Pendulum shows, and 0.9 later."""
    explained = np.concatenate([np.full(6, -1e6), np.linspace(-1.0, 0.9, 18), around(0.9, 0.02, 36)])
    series = {"explained_variance": explained, "return/train": flat(-900.0)}
    assert explained_variance_negative.check(scene(series=series)) is None


def test_explained_variance_below_zero_means_nothing_without_rewards() -> None:
    assert explained_variance_negative.check(fault("zero_reward_ppo_cartpole")) is None
    assert explained_variance_negative.check(fault("solved_ppo_cartpole")) is None


# The rule explained-variance-fell.


def _lost_critic(loss: np.ndarray, returns: np.ndarray) -> dict[str, np.ndarray]:
    explained = np.concatenate([np.linspace(0.0, 0.8, 20), around(0.8, 0.03, 20), around(0.1, 0.03, 20)])
    return {"explained_variance": explained, "value_loss": loss, "return/train": returns}


def test_a_critic_that_was_good_and_is_lost_is_an_alarm() -> None:
    found = explained_variance_fell.check(fault("broken_sensor_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step == pytest.approx(5_888)


def test_the_same_fall_is_a_note_while_the_return_rises() -> None:
    found = explained_variance_fell.check(fault("unusual_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.INFO


def test_a_fall_with_the_variance_of_the_returns_is_a_solved_task() -> None:
    """constructed: nothing is left to explain, or another task began; near misses of the alarm above."""
    shrunk = np.concatenate([np.full(40, 2.0), np.full(20, 1e-4)])
    assert explained_variance_fell.check(scene(series=_lost_critic(shrunk, FELL))) is None
    swollen = np.concatenate([np.full(40, 2.0), np.full(20, 400.0)])
    assert explained_variance_fell.check(scene(series=_lost_critic(swollen, FELL))) is None
    assert explained_variance_fell.check(fault("solved_ppo_cartpole")) is None


# The rule critic-explains-nothing.


def test_a_critic_without_any_explanation_beside_a_flat_return_is_an_alarm() -> None:
    found = critic_explains_nothing.check(fault("large_reward_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_a_critic_that_is_not_trained_is_a_note_where_the_return_rises_all_the_same() -> None:
    found = critic_explains_nothing.check(fault("no_value_loss_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.INFO


def test_a_critic_that_explains_something_in_one_quarter_is_not_one_of_these() -> None:
    """constructed: near miss."""
    explained = np.concatenate([around(0.0, 0.02, 45), around(0.3, 0.02, 15)])
    series = {"explained_variance": explained, "value_loss": around(40.0, 2.0), "return/train": flat()}
    assert critic_explains_nothing.check(scene(series=series)) is None


def test_constant_returns_leave_nothing_to_explain() -> None:
    assert critic_explains_nothing.check(fault("sparse_ppo_mountaincar")) is None


# The rule returns-too-large-for-critic.


def test_returns_of_tens_of_thousands_swamp_the_policy() -> None:
    found = returns_too_large_for_critic.check(fault("large_reward_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "times the clip" in found.summary


def test_large_returns_that_the_critic_explains_are_fine() -> None:
    """constructed: the same scale with a good critic, and a poor critic on returns of order 10."""
    good = {"explained_variance": around(0.7, 0.02), "value_loss": around(1e4, 1e3), "return/train": flat(600.0)}
    assert returns_too_large_for_critic.check(scene(series=good)) is None
    small = {"explained_variance": around(0.0, 0.02), "value_loss": around(100.0, 9.0), "return/train": flat()}
    assert returns_too_large_for_critic.check(scene(series=small)) is None


def test_a_hopeless_critic_is_an_alarm_where_the_return_only_crept_up() -> None:
    """constructed: targets that spread by thousands, with a return that crept and with one that rose tenfold."""
    critic = {"explained_variance": around(0.0, 1e-4), "value_loss": around(1e7, 1e6), "grad_norm": around(5e4, 1e3)}
    severities = []
    for end in (29_000.0, 200_000.0):
        series = {**critic, "return/train": rising(20_000.0, end)}
        found = returns_too_large_for_critic.check(scene(series=series, config={"max_grad_norm": 0.5}, budget=100_000))
        assert found is not None
        severities.append(found.severity)
    assert severities == [Severity.WARNING, Severity.INFO]


def test_large_returns_without_clipped_gradients_are_fine() -> None:
    """constructed: a norm clip that leaves the gradient alone."""
    series = {
        "explained_variance": around(0.0, 0.02),
        "value_loss": around(1e4, 1e3),
        "grad_norm": around(2.0, 0.2),
        "return/train": flat(600.0),
    }
    assert returns_too_large_for_critic.check(scene(series=series, config={"max_grad_norm": 1.0})) is None
    assert returns_too_large_for_critic.check(scene(series=series, config={"max_grad_norm": 0.1})) is not None


# The rule value-clip-small-against-returns.


def test_a_small_value_clip_beside_a_poor_critic_and_a_flat_return_is_an_alarm() -> None:
    """constructed: recorded runs with a small clip learn all the same."""
    series = {"explained_variance": around(0.05, 0.02), "value_loss": around(400.0, 9.0), "return/train": flat()}
    found = value_clip_small_against_returns.check(scene(series=series, config={"clip_range_vf": 0.2}))
    assert found is not None
    assert found.severity is Severity.WARNING
    wide = scene(series=series, config={"clip_range_vf": 5.0})
    assert value_clip_small_against_returns.check(wide) is None
    off = scene(series=series, config={"clip_range_vf": 0.2, "clip_value_loss": False})
    assert value_clip_small_against_returns.check(off) is None


def test_a_small_value_clip_beside_a_good_critic_is_harmless() -> None:
    assert value_clip_small_against_returns.check(recorded("gymnasium_solver/runs/local-20260115-103000")) is None


def test_a_ratio_clip_that_also_clips_values_counts_as_value_clip() -> None:
    found = value_clip_small_against_returns.check(recorded("cleanrl/ppo_cartpole/runs/*"))
    assert found is not None
    assert found.severity is Severity.INFO


def test_rllib_caps_the_squared_error_instead() -> None:
    """constructed: 400 is 20 in units of the return, as wide as the returns themselves."""
    series = {"explained_variance": around(0.05, 0.02), "value_loss": around(400.0, 9.0), "return/train": flat()}
    for clip, expected in ((400.0, False), (0.5, True)):
        facts = scene(framework="rllib", series=series, config={"clip_range_vf": clip})
        assert (value_clip_small_against_returns.check(facts) is not None) is expected


# The rule advantages-extreme.


def test_advantages_of_thirty_deviations_are_an_alarm_beside_a_fallen_return() -> None:
    found = advantages_extreme.check(fault("rare_penalty_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    # constructed: no recorded run rises beside such advantages
    series = {"advantage/abs_max": around(30.0, 1.0), "advantage/std": np.ones(60), "return/train": rising()}
    noted = advantages_extreme.check(scene(series=series))
    assert noted is not None
    assert noted.severity is Severity.INFO


def test_advantages_of_ten_deviations_are_common() -> None:
    """constructed: near miss."""
    series = {"advantage/abs_max": around(10.0, 1.0), "advantage/std": np.ones(60), "return/train": FELL}
    assert advantages_extreme.check(scene(series=series)) is None


# The rule value-loss-grows.


def test_a_loss_that_grows_without_returns_that_grow_is_an_alarm_unless_the_critic_is_good() -> None:
    found = value_loss_grows.check(fault("louder_deaf_ppo_cartpole"))
    assert found is not None
    assert found.onset_step is not None
    # constructed: no recorded critic explains returns like these
    series = {"value_loss": np.geomspace(1.0, 1e4, 60), "return/train": flat(), "explained_variance": around(0.9, 0.01)}
    assert value_loss_grows.check(scene(series=series)) is None


def test_a_loss_that_grows_with_the_square_of_the_return_is_learning() -> None:
    """constructed: returns times ten, and a fall at the end; and a loss that only trebles."""
    climb = np.concatenate([np.linspace(20.0, 400.0, 50), np.full(10, 100.0)])
    series = {"value_loss": np.geomspace(1.0, 100.0, 60), "return/train": climb}
    assert value_loss_grows.check(scene(series=series)) is None
    trebled = {"value_loss": np.geomspace(1.0, 3.0, 60), "return/train": flat()}
    assert value_loss_grows.check(scene(series=trebled)) is None


def test_a_sparse_task_has_no_loss_before_its_first_reward() -> None:
    """constructed: the loss leaves zero with the first reward."""
    returns = np.concatenate([np.zeros(40), np.full(10, 1.0), np.full(10, 0.2)])
    loss = np.concatenate([np.full(40, 1e-6), np.full(20, 0.05)])
    assert value_loss_grows.check(scene(series={"value_loss": loss, "return/train": returns})) is None


# The rule value-offset.


def test_a_constant_error_that_explained_variance_hides_is_an_alarm() -> None:
    """constructed: predictions 8 above targets of 10, with a perfect explained variance."""
    series = {
        "value/mean": around(18.0, 0.2),
        "value/target": around(10.0, 0.2),
        "explained_variance": around(0.95, 0.01),
        "return/train": flat(),
    }
    found = value_offset.check(scene(series=series))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert value_offset.check(scene(series={**series, "value/mean": around(12.0, 0.2)})) is None


def test_a_critic_that_explains_nothing_is_another_matter() -> None:
    assert value_offset.check(fault("no_value_loss_ppo_cartpole")) is None


def test_predictions_that_return_length_and_discount_allow_are_fine() -> None:
    """constructed: one reward per step over 100 steps at a discount of 0.98 is worth 28 to 50."""
    series = {
        "episode_length": np.full(60, 100.0),
        "return/train": around(100.0, 1.0),
        "explained_variance": around(0.9, 0.01),
    }
    for level, expected in ((35.0, False), (48.0, False), (400.0, True), (-30.0, True)):
        facts = scene(series={**series, "value/mean": around(level, 0.3)}, config={"gamma": 0.98})
        assert (value_offset.check(facts) is not None) is expected
    scaled = scene(
        series={**series, "value/mean": around(400.0, 0.3)}, config={"gamma": 0.98, "normalize_reward": True}
    )
    assert value_offset.check(scaled) is None


@pytest.mark.parametrize("name", ["high_entropy_ppo_cartpole", "growing_std_ppo_pendulum", "wide_std_ppo_pendulum"])
def test_real_predictions_lie_in_the_range_that_their_returns_allow(name: str) -> None:
    assert value_offset.check(fault(name)) is None


# The rule constant-returns-hide-critic.


@pytest.mark.parametrize("name", ["solved_ppo_cartpole", "sparse_ppo_mountaincar", "zero_reward_ppo_cartpole"])
def test_explained_variance_of_constant_returns_is_explained_away(name: str) -> None:
    found = constant_returns_hide_critic.check(fault(name))
    assert found is not None
    assert found.severity is Severity.INFO
    assert "says nothing about the critic" in found.summary


def test_returns_that_vary_do_not_excuse_a_critic() -> None:
    assert returns_vary(fault("large_reward_ppo_cartpole"), 0.8)
    assert constant_returns_hide_critic.check(fault("large_reward_ppo_cartpole")) is None


def test_a_good_critic_needs_no_excuse() -> None:
    """constructed: constant returns with an explained variance that still looks good."""
    series = {"explained_variance": around(0.9, 0.01), "return/train": np.full(60, 500.0)}
    assert constant_returns_hide_critic.check(scene(series=series)) is None
    series["explained_variance"] = np.concatenate([around(0.9, 0.01, 40), np.full(20, np.nan)])
    assert constant_returns_hide_critic.check(scene(series=series)) is not None


# The rule value-loss-not-falling.


def test_a_critic_whose_error_never_falls_beside_a_flat_return_is_an_alarm() -> None:
    """constructed: a framework that logs no explained variance."""
    series = {"value_loss": around(40.0, 2.0), "return/train": flat()}
    assert value_loss_not_falling.check(scene(series=series)) is not None
    assert value_loss_not_falling.check(scene(series={**series, "value_loss": np.linspace(40, 20, 60)})) is None
    assert value_loss_not_falling.check(scene(series={**series, "return/train": rising()})) is None


def test_an_explained_variance_that_stays_poor_is_an_alarm_and_one_that_rises_is_none() -> None:
    """constructed: between a critic that explains nothing and a good one."""
    series = {"value_loss": around(40.0, 2.0), "return/train": flat(), "explained_variance": around(0.25, 0.02)}
    assert value_loss_not_falling.check(scene(series=series)) is not None
    series["explained_variance"] = np.linspace(0.0, 0.45, 60)
    assert value_loss_not_falling.check(scene(series=series)) is None
