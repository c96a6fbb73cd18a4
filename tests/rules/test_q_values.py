"""Rules about Q values, their errors, and the temperature."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.off_policy import (
    q_above_achievable,
    q_values_diverge,
    td_error_grows,
    temperature_explodes,
    temperature_vanishes,
    twin_critics_diverge,
)
from tests.rules.scene import fault, flat, rising, scene

LENGTHS = np.full(60, 200.0)


def test_q_that_grows_beyond_every_return_is_a_divergence() -> None:
    """constructed: an exploding critic of TD3."""
    q = np.geomspace(1.0, 1e6, 60)
    facts = scene(
        algorithm="TD3",
        series={"q/mean": q, "return/train": flat(-1000.0), "episode_length": LENGTHS},
        config={"gamma": 0.99},
    )
    found = q_values_diverge.check(facts)
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.onset_step is not None
    assert found.evidence[0].value > (found.evidence[0].threshold or np.inf)


def test_q_is_read_off_the_actor_loss_where_that_is_minus_q() -> None:
    """constructed: the same divergence as SB3 logs it."""
    loss = -np.geomspace(1.0, 1e6, 60)
    series = {"policy_loss": loss, "return/train": flat(-1000.0), "episode_length": LENGTHS}
    assert q_values_diverge.check(scene(algorithm="SAC", series=series, config={"gamma": 0.99})) is not None
    assert q_values_diverge.check(scene(algorithm="IQL", series=series, config={"gamma": 0.99})) is None


def test_q_that_grows_with_the_return_is_fine() -> None:
    """constructed: a critic on its way up with the agent."""
    facts = scene(
        algorithm="DDPG",
        series={"q/mean": np.geomspace(1.0, 900.0, 60), "return/train": rising(0.0, 9000.0), "episode_length": LENGTHS},
        config={"gamma": 0.99},
    )
    assert q_values_diverge.check(facts) is None
    assert q_above_achievable.check(facts) is None


def test_without_a_return_only_huge_growth_counts() -> None:
    """constructed: offline training that was never evaluated."""
    grown = scene(algorithm="CQL", series={"q/mean": np.geomspace(1.0, 1e7, 60)})
    climbing = scene(algorithm="CQL", series={"q/mean": np.geomspace(1.0, 100.0, 60)})
    assert q_values_diverge.check(grown) is not None
    assert q_values_diverge.check(climbing) is None


def test_twin_critics_that_drift_apart_are_seen() -> None:
    """constructed: critics that part in a run that fails."""
    first = np.linspace(10.0, 100.0, 60)
    series = {"q1/mean": first, "q2/mean": first - np.geomspace(0.5, 80.0, 60), "return/train": flat(-30.0)}
    found = twin_critics_diverge.check(scene(algorithm="SAC", series=series))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value > 0.5


def test_twin_critics_a_few_percent_apart_are_fine() -> None:
    """constructed: a gap that grows with Q."""
    first = np.linspace(10.0, 100.0, 60)
    series = {"q1/mean": first, "q2/mean": 0.95 * first, "return/train": flat(-30.0)}
    assert twin_critics_diverge.check(scene(algorithm="SAC", series=series)) is None


def test_a_small_gap_beside_a_small_q_is_measured_against_the_return() -> None:
    """constructed: Q near zero on a task whose returns vary by hundreds."""
    q = np.full(60, 0.1)
    series = {"q1/mean": q, "q/spread": np.geomspace(0.01, 0.2, 60), "return/train": flat(-300.0, noise=0.2)}
    assert twin_critics_diverge.check(scene(algorithm="SAC", series=series)) is None


def test_a_temperature_that_vanishes_beside_a_flat_return_is_seen() -> None:
    """constructed: a target entropy far too low."""
    series = {"alpha": np.geomspace(1.0, 1e-5, 60), "return/train": flat(-1000.0), "episode_length": LENGTHS}
    found = temperature_vanishes.check(scene(algorithm="SAC", series=series))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step is not None
    assert 30_000 < found.onset_step < 50_000


def test_a_temperature_that_falls_while_the_return_rises_is_tuning() -> None:
    """constructed: the same fall beside a return that climbs."""
    series = {"alpha": np.geomspace(1.0, 1e-5, 60), "return/train": rising(-1000.0, -150.0), "episode_length": LENGTHS}
    assert temperature_vanishes.check(scene(algorithm="SAC", series=series)) is None


def test_a_temperature_near_zero_beside_a_return_that_rises_is_no_fault() -> None:
    facts = fault("cold_sac_pendulum")
    alpha = facts.late("alpha")
    assert alpha is not None
    assert alpha.value == pytest.approx(1e-6)
    assert temperature_vanishes.check(facts) is None


def test_small_rewards_need_a_small_temperature() -> None:
    """constructed: alpha falls with the reward it is weighed against."""
    series = {"alpha": np.geomspace(1.0, 1e-3, 60), "return/train": flat(0.02), "episode_length": LENGTHS}
    assert temperature_vanishes.check(scene(algorithm="SAC", series=series)) is None


def test_a_temperature_fixed_above_the_reward_is_seen() -> None:
    found = temperature_explodes.check(fault("hot_sac_pendulum"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "fixed at 10" in found.summary
    assert found.evidence[0].value > 1


def test_a_temperature_that_grows_beyond_the_reward_is_seen() -> None:
    """constructed: a target entropy of the wrong sign."""
    series = {"alpha": np.geomspace(0.1, 1e3, 60), "return/train": flat(-1000.0), "episode_length": LENGTHS}
    found = temperature_explodes.check(scene(algorithm="SAC", series=series))
    assert found is not None
    assert found.onset_step is not None


def test_a_temperature_below_the_reward_is_fine() -> None:
    """constructed: alpha grows tenfold but stays a small part of each reward."""
    series = {"alpha": np.geomspace(0.01, 0.2, 60), "return/train": flat(-1000.0), "episode_length": LENGTHS}
    assert temperature_explodes.check(scene(algorithm="SAC", series=series)) is None


def test_a_q_loss_that_explodes_is_an_error() -> None:
    """constructed: extrapolation error of offline training, which takes millions of updates."""
    facts = scene(
        algorithm="QRDQN", axis="updates", series={"value_loss": np.geomspace(1.0, 1e9, 60), "return/eval": flat(260.0)}
    )
    found = td_error_grows.check(facts)
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "log/value_loss" in found.summary


def test_a_loss_that_grows_with_the_square_of_the_return_is_fine() -> None:
    """constructed: returns grow a hundredfold and squared errors ten thousandfold."""
    series = {"value_loss": np.geomspace(0.01, 100.0, 60), "return/train": rising(10.0, 1000.0)}
    assert td_error_grows.check(scene(algorithm="SAC", series=series)) is None


def test_a_loss_that_grows_a_hundredfold_beside_a_flat_return_is_not_yet_a_divergence() -> None:
    """constructed: near the bar."""
    series = {"value_loss": np.geomspace(0.01, 1.0, 60), "return/train": flat(20.0)}
    assert td_error_grows.check(scene(algorithm="DQN", series=series)) is None


def test_q_above_what_gamma_allows_is_an_alarm_when_the_return_is_poor() -> None:
    """constructed: a bootstrapped terminal state on a task that pays 1 per step."""
    lengths = flat(20.0, noise=0.2)
    facts = scene(
        algorithm="DQN",
        series={"q/mean": np.full(60, 500.0), "return/train": lengths, "episode_length": lengths},
        config={"gamma": 0.99},
        threshold=475.0,
    )
    found = q_above_achievable.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].threshold == pytest.approx(200.0)


def test_q_that_overshoots_by_a_half_is_fine() -> None:
    """constructed: usual overestimation of DQN on the same task."""
    lengths = flat(20.0, noise=0.2)
    facts = scene(
        algorithm="DQN",
        series={"q/mean": np.full(60, 150.0), "return/train": lengths, "episode_length": lengths},
        config={"gamma": 0.99},
        threshold=475.0,
    )
    assert q_above_achievable.check(facts) is None


def test_q_on_rescaled_rewards_is_not_compared() -> None:
    """constructed: rewards times 1000 inside the learner."""
    facts = scene(
        algorithm="IQL",
        series={"q/mean": np.full(60, 1e6), "return/eval": flat(20.0)},
        config={"gamma": 0.99, "reward_scale": 1000.0},
    )
    assert q_above_achievable.check(facts) is None


@pytest.mark.parametrize(
    ("spread", "end", "alarm"),
    [((0.87, 0.87), -1180.0, True), ((0.87, 0.54), -1180.0, False), ((0.87, 0.87), -150.0, False)],
)
def test_a_fixed_temperature_that_keeps_the_actions_wide_is_an_alarm_where_the_return_crept(
    spread: tuple[float, float], end: float, *, alarm: bool
) -> None:
    """constructed: alpha at nine tenths of the reward of a step, beside actions that narrow or not."""
    series = {
        "alpha": np.full(60, 5.0),
        "action_std/mean": np.linspace(*spread, 60),
        "episode_length": np.full(60, 200.0),
        "return/train": rising(-1200.0, end),
    }
    found = temperature_explodes.check(scene(algorithm="SAC", series=series, budget=100_000))
    assert (found is not None) is alarm
