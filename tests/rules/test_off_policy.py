"""Rules about Q values, temperature, exploration, replay and target networks."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.model.run import Status
from rlclinic.rules.off_policy import (
    best_long_ago_offline,
    buffer_small_for_run,
    exploration_ends_at_once,
    exploration_never_falls,
    learning_starts_late,
    no_update_ever_ran,
    q_above_achievable,
    q_runs_away,
    target_moves_strangely,
    td_error_grows,
    temperature_explodes,
    temperature_vanishes,
    twin_critics_part,
    updates_per_step_extreme,
)
from tests.rules.build import flat, make_patient, rising
from tests.rules.recorded import HEALTHY, fault, recorded

RULES = (
    q_runs_away,
    twin_critics_part,
    temperature_vanishes,
    temperature_explodes,
    td_error_grows,
    no_update_ever_ran,
    learning_starts_late,
    buffer_small_for_run,
    exploration_ends_at_once,
    exploration_never_falls,
    q_above_achievable,
    best_long_ago_offline,
    target_moves_strangely,
    updates_per_step_extreme,
)
LENGTHS = np.full(60, 200.0)


@pytest.mark.parametrize("path", HEALTHY)
def test_a_healthy_run_gets_nothing_above_a_note(path: str) -> None:
    patient = recorded(path)
    alarms = [s for rule in RULES if (s := rule.check(patient)) is not None and s.severity is not Severity.INFO]
    assert alarms == []


def test_q_that_grows_beyond_every_return_is_a_divergence() -> None:
    """constructed: an exploding critic, which short recorded runs do not reach."""
    q = np.geomspace(1.0, 1e6, 60)
    patient = make_patient(
        algorithm="TD3",
        series={"q/mean": q, "return/train": flat(-1000.0), "episode_length": LENGTHS},
        config={"gamma": 0.99},
    )
    found = q_runs_away.check(patient)
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.onset_step is not None
    assert found.evidence[0].value > (found.evidence[0].threshold or np.inf)


def test_q_is_read_off_the_actor_loss_where_that_is_minus_q() -> None:
    """constructed: the same divergence as SB3 logs it."""
    loss = -np.geomspace(1.0, 1e6, 60)
    series = {"policy_loss": loss, "return/train": flat(-1000.0), "episode_length": LENGTHS}
    assert q_runs_away.check(make_patient(algorithm="SAC", series=series, config={"gamma": 0.99})) is not None
    assert q_runs_away.check(make_patient(algorithm="IQL", series=series, config={"gamma": 0.99})) is None


def test_q_that_grows_with_the_return_is_fine() -> None:
    """constructed: a critic on its way up with the agent."""
    patient = make_patient(
        algorithm="DDPG",
        series={"q/mean": np.geomspace(1.0, 900.0, 60), "return/train": rising(0.0, 9000.0), "episode_length": LENGTHS},
        config={"gamma": 0.99},
    )
    assert q_runs_away.check(patient) is None
    assert q_above_achievable.check(patient) is None


def test_without_a_return_only_huge_growth_counts() -> None:
    """constructed: offline training that was never evaluated."""
    grown = make_patient(algorithm="CQL", series={"q/mean": np.geomspace(1.0, 1e7, 60)})
    climbing = make_patient(algorithm="CQL", series={"q/mean": np.geomspace(1.0, 100.0, 60)})
    assert q_runs_away.check(grown) is not None
    assert q_runs_away.check(climbing) is None


def test_twin_critics_that_drift_apart_are_seen() -> None:
    """constructed: recorded twin critics stay together."""
    first = np.linspace(10.0, 100.0, 60)
    series = {"q1/mean": first, "q2/mean": first - np.geomspace(0.5, 80.0, 60), "return/train": flat(-30.0)}
    found = twin_critics_part.check(make_patient(algorithm="SAC", series=series))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value > 0.5


def test_twin_critics_a_few_percent_apart_are_fine() -> None:
    """constructed: a gap that grows with Q."""
    first = np.linspace(10.0, 100.0, 60)
    series = {"q1/mean": first, "q2/mean": 0.95 * first, "return/train": flat(-30.0)}
    assert twin_critics_part.check(make_patient(algorithm="SAC", series=series)) is None


def test_a_small_gap_beside_a_small_q_is_measured_against_the_return() -> None:
    """constructed: Q near zero on a task whose returns vary by hundreds."""
    q = np.full(60, 0.1)
    series = {"q1/mean": q, "q/spread": np.geomspace(0.01, 0.2, 60), "return/train": flat(-300.0, noise=0.2)}
    assert twin_critics_part.check(make_patient(algorithm="SAC", series=series)) is None


def test_a_temperature_that_vanishes_beside_a_flat_return_is_seen() -> None:
    """constructed: a target entropy far too low."""
    series = {"alpha": np.geomspace(1.0, 1e-5, 60), "return/train": flat(-1000.0), "episode_length": LENGTHS}
    found = temperature_vanishes.check(make_patient(algorithm="SAC", series=series))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step is not None
    assert 30_000 < found.onset_step < 50_000


def test_a_temperature_that_falls_while_the_return_rises_is_tuning() -> None:
    """constructed: the same fall beside a return that climbs."""
    series = {"alpha": np.geomspace(1.0, 1e-5, 60), "return/train": rising(-1000.0, -150.0), "episode_length": LENGTHS}
    assert temperature_vanishes.check(make_patient(algorithm="SAC", series=series)) is None


def test_a_temperature_near_zero_beside_a_return_that_rises_is_no_fault() -> None:
    patient = fault("cold_sac_pendulum")
    alpha = patient.late("alpha")
    assert alpha is not None
    assert alpha.value == pytest.approx(1e-6)
    assert temperature_vanishes.check(patient) is None


def test_small_rewards_need_a_small_temperature() -> None:
    """constructed: alpha falls with the reward it is weighed against."""
    series = {"alpha": np.geomspace(1.0, 1e-3, 60), "return/train": flat(0.02), "episode_length": LENGTHS}
    assert temperature_vanishes.check(make_patient(algorithm="SAC", series=series)) is None


def test_a_temperature_fixed_above_the_reward_is_seen() -> None:
    found = temperature_explodes.check(fault("hot_sac_pendulum"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "fixed at 10" in found.summary
    assert found.evidence[0].value > 1


def test_a_temperature_that_grows_beyond_the_reward_is_seen() -> None:
    """constructed: a target entropy of the wrong sign."""
    series = {"alpha": np.geomspace(0.1, 1e3, 60), "return/train": flat(-1000.0), "episode_length": LENGTHS}
    found = temperature_explodes.check(make_patient(algorithm="SAC", series=series))
    assert found is not None
    assert found.onset_step is not None


def test_a_temperature_below_the_reward_is_fine() -> None:
    """constructed: alpha grows tenfold but stays a small part of each reward."""
    series = {"alpha": np.geomspace(0.01, 0.2, 60), "return/train": flat(-1000.0), "episode_length": LENGTHS}
    assert temperature_explodes.check(make_patient(algorithm="SAC", series=series)) is None


def test_a_q_loss_that_explodes_is_an_error() -> None:
    """constructed: extrapolation error of offline training, which takes millions of updates."""
    patient = make_patient(
        algorithm="QRDQN", axis="updates", series={"value_loss": np.geomspace(1.0, 1e9, 60), "return/eval": flat(260.0)}
    )
    found = td_error_grows.check(patient)
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "log/value_loss" in found.summary


def test_a_loss_that_grows_with_the_square_of_the_return_is_fine() -> None:
    """constructed: returns grow a hundredfold and squared errors ten thousandfold."""
    series = {"value_loss": np.geomspace(0.01, 100.0, 60), "return/train": rising(10.0, 1000.0)}
    assert td_error_grows.check(make_patient(algorithm="SAC", series=series)) is None


def test_a_loss_that_grows_a_hundredfold_beside_a_flat_return_is_not_yet_a_divergence() -> None:
    """constructed: near the bar."""
    series = {"value_loss": np.geomspace(0.01, 1.0, 60), "return/train": flat(20.0)}
    assert td_error_grows.check(make_patient(algorithm="DQN", series=series)) is None


def test_a_run_without_a_single_update_is_an_error() -> None:
    found = no_update_ever_ran.check(fault("late_start_dqn_cartpole"))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "learning_starts is 20,000" in found.summary


def test_a_folder_that_never_holds_losses_says_nothing_about_updates() -> None:
    patient = recorded("zoo/ppo_cartpole/logs/ppo/CartPole-v1_1")
    assert "policy_loss" not in patient.run
    assert no_update_ever_ran.check(patient) is None


def test_a_run_stopped_before_learning_was_due_is_only_noted() -> None:
    """constructed: recorded runs go on beyond their start of learning."""
    patient = make_patient(
        algorithm="DQN",
        series={"return/train": flat(20.0, 12), "fps": flat(500.0, 12)},
        config={"learning_starts": 10_000},
        steps=4_000,
        budget=500_000,
        status=Status.INTERRUPTED,
    )
    found = no_update_ever_ran.check(patient)
    assert found is not None
    assert found.severity is Severity.INFO


def test_learning_that_starts_with_the_end_of_the_budget_is_an_error() -> None:
    found = learning_starts_late.check(fault("late_start_dqn_cartpole"))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.evidence[0].value == 1.0


@pytest.mark.parametrize(
    ("starts", "steps", "budget", "expected"),
    [
        (60_000, 100_000, 100_000, Severity.WARNING),
        (60_000, 100_000, None, Severity.WARNING),
        (60_000, 100_000, 1_000_000, Severity.INFO),
        (10_000, 100_000, 100_000, None),
    ],
)
def test_the_share_of_steps_before_learning_decides(
    starts: float, steps: float, budget: float | None, expected: Severity | None
) -> None:
    """constructed: the bounds of the rule; the third run was stopped at a tenth of its budget."""
    patient = make_patient(
        algorithm="DQN", config={"learning_starts": starts}, steps=steps, budget=budget, status=Status.UNKNOWN
    )
    found = learning_starts_late.check(patient)
    assert (found.severity if found is not None else None) == expected


def test_a_buffer_of_a_few_episodes_is_noted_and_is_an_alarm_when_the_return_is_poor() -> None:
    """constructed: two runs that differ in their return alone."""
    fields = {"algorithm": "DQN", "config": {"buffer_size": 1_000}}
    poor = make_patient(series={"return/train": flat(20.0), "episode_length": LENGTHS}, **fields)
    good = make_patient(series={"return/train": rising(20.0, 300.0), "episode_length": LENGTHS}, **fields)
    for patient, severity in ((poor, Severity.WARNING), (good, Severity.INFO)):
        found = buffer_small_for_run.check(patient)
        assert found is not None
        assert found.severity is severity
        assert found.evidence[1].value == 5.0


def test_a_tiny_buffer_of_a_run_that_learns_is_only_noted() -> None:
    found = buffer_small_for_run.check(fault("small_buffer_dqn_cartpole"))
    assert found is not None
    assert found.severity is Severity.INFO
    assert found.evidence[1].value < 2


def test_a_buffer_of_a_hundredth_of_a_long_run_that_holds_many_episodes_is_fine() -> None:
    """constructed: ten million steps of images are never recorded here."""
    patient = make_patient(
        algorithm="DQN",
        steps=10_000_000,
        series={"return/train": flat(20.0), "episode_length": LENGTHS},
        config={"buffer_size": 100_000},
    )
    assert buffer_small_for_run.check(patient) is None


def _epsilon(down_at: float, last: float = 0.05) -> np.ndarray:
    share = np.linspace(0.0, 1.0, 200)
    return np.maximum(last, 1.0 - (1.0 - last) * share / max(down_at, 1e-9))


def test_exploration_that_ends_at_once_beside_a_flat_return_is_an_alarm() -> None:
    """constructed: an exploration fraction of half a percent."""
    patient = make_patient(algorithm="DQN", series={"epsilon": _epsilon(0.005), "return/train": flat(20.0)})
    found = exploration_ends_at_once.check(patient)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step is not None
    assert found.onset_step <= 2_000


@pytest.mark.parametrize(("down_at", "returns"), [(0.3, flat(20.0)), (0.005, rising(20.0, 400.0))])
def test_a_longer_exploration_or_a_rising_return_is_fine(down_at: float, returns: np.ndarray) -> None:
    """constructed: one of the two conditions is missing."""
    patient = make_patient(algorithm="DQN", series={"epsilon": _epsilon(down_at), "return/train": returns})
    assert exploration_ends_at_once.check(patient) is None


def test_exploration_that_ends_before_the_first_update_is_known_from_the_config() -> None:
    """constructed: a Zoo folder logs no epsilon."""
    config = {"exploration_fraction": 0.1, "exploration_final": 0.01, "learning_starts": 15_000}
    patient = make_patient(algorithm="DQN", series={"return/train": flat(20.0)}, config=config, budget=100_000)
    found = exploration_ends_at_once.check(patient)
    assert found is not None
    assert "first update comes at step 15,000" in found.summary


def test_epsilon_that_stays_at_one_is_an_alarm() -> None:
    found = exploration_never_falls.check(fault("epsilon_one_dqn_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value == 1.0


def test_epsilon_that_is_still_falling_in_a_run_of_unknown_budget_is_fine() -> None:
    """constructed: a run that was stopped on its way."""
    patient = make_patient(
        algorithm="DQN", status=Status.UNKNOWN, series={"epsilon": np.linspace(1.0, 0.5, 60), "return/train": flat()}
    )
    assert exploration_never_falls.check(patient) is None


def test_q_above_what_gamma_allows_is_an_alarm_when_the_return_is_poor() -> None:
    """constructed: a bootstrapped terminal state on a task that pays 1 per step."""
    lengths = flat(20.0, noise=0.2)
    patient = make_patient(
        algorithm="DQN",
        series={"q/mean": np.full(60, 500.0), "return/train": lengths, "episode_length": lengths},
        config={"gamma": 0.99},
        threshold=475.0,
    )
    found = q_above_achievable.check(patient)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].threshold == pytest.approx(200.0)


def test_q_that_overshoots_by_a_half_is_fine() -> None:
    """constructed: usual overestimation of DQN on the same task."""
    lengths = flat(20.0, noise=0.2)
    patient = make_patient(
        algorithm="DQN",
        series={"q/mean": np.full(60, 150.0), "return/train": lengths, "episode_length": lengths},
        config={"gamma": 0.99},
        threshold=475.0,
    )
    assert q_above_achievable.check(patient) is None


def test_q_on_rescaled_rewards_is_not_compared() -> None:
    """constructed: rewards times 1000 inside the learner."""
    patient = make_patient(
        algorithm="IQL",
        series={"q/mean": np.full(60, 1e6), "return/eval": flat(20.0)},
        config={"gamma": 0.99, "reward_scale": 1000.0},
    )
    assert q_above_achievable.check(patient) is None


def test_offline_training_beyond_its_best_is_an_alarm() -> None:
    """constructed: over-training on a data set, which takes millions of updates."""
    returns = np.concatenate([np.linspace(30.0, 40.0, 10), np.linspace(40.0, 12.0, 50)]) + 0.5 * flat(1.0, noise=0.5)
    patient = make_patient(algorithm="DISCRETEBCQ", axis="updates", series={"return/eval": returns})
    found = best_long_ago_offline.check(patient)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step is not None
    assert found.onset_step < 40_000


def test_a_flat_curve_after_a_quick_success_is_not_over_training() -> None:
    """constructed: best at a third of the run, within the noise of its end."""
    returns = np.concatenate([np.linspace(1000.0, 5400.0, 20), flat(5380.0, 40, noise=0.01)])
    patient = make_patient(algorithm="CQL", axis="updates", series={"return/eval": returns})
    assert best_long_ago_offline.check(patient) is None


def test_the_same_decay_of_an_online_run_is_not_this() -> None:
    """constructed: a run that collects its own data."""
    returns = np.concatenate([np.linspace(30.0, 40.0, 10), np.linspace(40.0, 12.0, 50)])
    patient = make_patient(algorithm="DQN", series={"return/eval": returns, "return/train": returns})
    assert best_long_ago_offline.check(patient) is None


def _with_target(interval: float, tau: float, returns: np.ndarray) -> object:
    config = {"target_update_interval": interval, "tau": tau, "train_freq": 1, "gradient_steps": 1, "n_envs": 1}
    return target_moves_strangely.check(make_patient(algorithm="SAC", series={"return/train": returns}, config=config))


@pytest.mark.parametrize("name", ["frozen_target_dqn_cartpole", "fast_target_sac_pendulum"])
def test_a_target_that_is_never_renewed_or_has_no_memory_is_an_alarm(name: str) -> None:
    found = target_moves_strangely.check(fault(name))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_few_renewals_because_learning_began_late_are_another_finding() -> None:
    patient = fault("late_start_sac_pendulum")
    assert target_moves_strangely.check(patient) is None
    found = learning_starts_late.check(patient)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value == pytest.approx(0.9)


def test_a_target_without_memory_is_an_alarm_only_when_the_return_is_poor() -> None:
    """constructed: tau of 1 at every update."""
    assert _with_target(1, 1.0, flat(20.0)) is not None
    assert _with_target(1, 1.0, rising(20.0, 300.0)) is None


@pytest.mark.parametrize(("interval", "tau"), [(1, 0.005), (1, 0.05), (1_000, 1.0)])
def test_usual_targets_are_fine_whatever_the_return(interval: float, tau: float) -> None:
    """constructed: settings that work elsewhere."""
    assert _with_target(interval, tau, flat(20.0)) is None


def test_copies_between_two_bursts_of_updates_count_as_one() -> None:
    """The recorded run copies its target every 10 steps and trains in bursts of 64 updates."""
    assert target_moves_strangely.check(fault("healthy_dqn_cartpole")) is None


@pytest.mark.parametrize("ratio", [20.0, 0.005])
def test_far_too_many_or_few_updates_are_an_alarm_when_the_return_is_poor(ratio: float) -> None:
    """constructed: ratios that nobody uses."""
    updates = ratio * np.linspace(1_000, 100_000, 60)
    poor = make_patient(algorithm="SAC", series={"updates": updates, "return/train": flat(20.0)})
    good = make_patient(algorithm="SAC", series={"updates": updates, "return/train": rising(20.0, 300.0)})
    for patient, severity in ((poor, Severity.WARNING), (good, Severity.INFO)):
        found = updates_per_step_extreme.check(patient)
        assert found is not None
        assert found.severity is severity
        assert found.evidence[0].value == pytest.approx(ratio, rel=0.1)


@pytest.mark.parametrize("config", [{"gradient_steps": 1, "train_freq": 4}, {"gradient_steps": -1, "train_freq": 8}])
def test_usual_ratios_are_fine(config: dict[str, object]) -> None:
    """constructed: settings that work elsewhere; -1 means as many updates as steps."""
    patient = make_patient(algorithm="SAC", series={"return/train": flat(20.0)}, config=config)
    assert updates_per_step_extreme.check(patient) is None
