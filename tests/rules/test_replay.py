"""Rules about exploration, replay, updates and target networks of off-policy algorithms."""

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
    target_moves_strangely,
    updates_per_step_extreme,
)
from tests.rules.scene import fault, flat, recorded, rising, scene

LENGTHS = np.full(60, 200.0)


def test_a_run_without_a_single_update_is_an_error() -> None:
    found = no_update_ever_ran.check(fault("late_start_dqn_cartpole"))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "learning_starts is 20,000" in found.summary


def test_a_folder_that_never_holds_losses_says_nothing_about_updates() -> None:
    facts = recorded("zoo/ppo_cartpole/logs/ppo/CartPole-v1_1")
    assert "policy_loss" not in facts.run
    assert no_update_ever_ran.check(facts) is None


def test_a_run_stopped_before_learning_was_due_is_only_noted() -> None:
    """constructed: recorded runs go on beyond their start of learning."""
    facts = scene(
        algorithm="DQN",
        series={"return/train": flat(20.0, 12), "fps": flat(500.0, 12)},
        config={"learning_starts": 10_000},
        steps=4_000,
        budget=500_000,
        status=Status.INTERRUPTED,
    )
    found = no_update_ever_ran.check(facts)
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
    facts = scene(
        algorithm="DQN", config={"learning_starts": starts}, steps=steps, budget=budget, status=Status.UNKNOWN
    )
    found = learning_starts_late.check(facts)
    assert (found.severity if found is not None else None) == expected


def test_a_buffer_of_a_few_episodes_is_noted_and_is_an_alarm_when_the_return_is_poor() -> None:
    """constructed: two runs that differ in their return alone."""
    fields = {"algorithm": "DQN", "config": {"buffer_size": 1_000}}
    poor = scene(series={"return/train": flat(20.0), "episode_length": LENGTHS}, **fields)
    good = scene(series={"return/train": rising(20.0, 300.0), "episode_length": LENGTHS}, **fields)
    for facts, severity in ((poor, Severity.WARNING), (good, Severity.INFO)):
        found = buffer_small_for_run.check(facts)
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
    facts = scene(
        algorithm="DQN",
        steps=10_000_000,
        series={"return/train": flat(20.0), "episode_length": LENGTHS},
        config={"buffer_size": 100_000},
    )
    assert buffer_small_for_run.check(facts) is None


def _epsilon(down_at: float, last: float = 0.05) -> np.ndarray:
    share = np.linspace(0.0, 1.0, 200)
    return np.maximum(last, 1.0 - (1.0 - last) * share / max(down_at, 1e-9))


def test_exploration_that_ends_at_once_beside_a_flat_return_is_an_alarm() -> None:
    """constructed: an exploration fraction of half a percent."""
    facts = scene(algorithm="DQN", series={"epsilon": _epsilon(0.005), "return/train": flat(20.0)})
    found = exploration_ends_at_once.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step is not None
    assert found.onset_step <= 2_000


@pytest.mark.parametrize(("down_at", "returns"), [(0.3, flat(20.0)), (0.005, rising(20.0, 400.0))])
def test_a_longer_exploration_or_a_rising_return_is_fine(down_at: float, returns: np.ndarray) -> None:
    """constructed: one of the two conditions is missing."""
    facts = scene(algorithm="DQN", series={"epsilon": _epsilon(down_at), "return/train": returns})
    assert exploration_ends_at_once.check(facts) is None


def test_exploration_that_ends_before_the_first_update_is_known_from_the_config() -> None:
    """constructed: a Zoo folder logs no epsilon."""
    config = {"exploration_fraction": 0.1, "exploration_final": 0.01, "learning_starts": 15_000}
    facts = scene(algorithm="DQN", series={"return/train": flat(20.0)}, config=config, budget=100_000)
    found = exploration_ends_at_once.check(facts)
    assert found is not None
    assert "before the first update at step 15,000" in found.summary


def test_epsilon_that_stays_at_one_is_an_alarm() -> None:
    found = exploration_never_falls.check(fault("epsilon_one_dqn_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value == 1.0


def test_epsilon_that_is_still_falling_in_a_run_of_unknown_budget_is_fine() -> None:
    """constructed: a run that was stopped on its way."""
    facts = scene(
        algorithm="DQN", status=Status.UNKNOWN, series={"epsilon": np.linspace(1.0, 0.5, 60), "return/train": flat()}
    )
    assert exploration_never_falls.check(facts) is None


def test_offline_training_beyond_its_best_is_an_alarm() -> None:
    """constructed: over-training on a data set, which takes millions of updates."""
    returns = np.concatenate([np.linspace(30.0, 40.0, 10), np.linspace(40.0, 12.0, 50)]) + 0.5 * flat(1.0, noise=0.5)
    facts = scene(algorithm="DISCRETEBCQ", axis="updates", series={"return/eval": returns})
    found = best_long_ago_offline.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step is not None
    assert found.onset_step < 40_000


def test_a_flat_curve_after_a_quick_success_is_not_over_training() -> None:
    """constructed: best at a third of the run, within the noise of its end."""
    returns = np.concatenate([np.linspace(1000.0, 5400.0, 20), flat(5380.0, 40, noise=0.01)])
    facts = scene(algorithm="CQL", axis="updates", series={"return/eval": returns})
    assert best_long_ago_offline.check(facts) is None


def test_the_same_decay_of_an_online_run_is_not_this() -> None:
    """constructed: a run that collects its own data."""
    returns = np.concatenate([np.linspace(30.0, 40.0, 10), np.linspace(40.0, 12.0, 50)])
    facts = scene(algorithm="DQN", series={"return/eval": returns, "return/train": returns})
    assert best_long_ago_offline.check(facts) is None


def _with_target(interval: float, tau: float, returns: np.ndarray) -> object:
    config = {"target_update_interval": interval, "tau": tau, "train_freq": 1, "gradient_steps": 1, "n_envs": 1}
    return target_moves_strangely.check(scene(algorithm="SAC", series={"return/train": returns}, config=config))


@pytest.mark.parametrize("name", ["frozen_target_dqn_cartpole", "fast_target_sac_pendulum"])
def test_a_target_that_is_never_renewed_or_has_no_memory_is_an_alarm(name: str) -> None:
    found = target_moves_strangely.check(fault(name))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_few_renewals_because_learning_began_late_are_another_finding() -> None:
    facts = fault("late_start_sac_pendulum")
    assert target_moves_strangely.check(facts) is None
    found = learning_starts_late.check(facts)
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.evidence[0].value == pytest.approx(0.9)


def test_a_target_without_memory_is_an_alarm_only_when_the_return_is_poor() -> None:
    """constructed: tau of 1 at every update."""
    assert _with_target(1, 1.0, flat(20.0)) is not None
    assert _with_target(1, 1.0, rising(20.0, 300.0)) is None


@pytest.mark.parametrize(("interval", "tau"), [(1, 0.005), (1, 0.05), (1_000, 1.0)])
def test_usual_targets_are_fine_whatever_the_return(interval: float, tau: float) -> None:
    """constructed: settings that work elsewhere."""
    assert _with_target(interval, tau, flat(20.0)) is None


@pytest.mark.parametrize(("status", "seen"), [(Status.RUNNING, []), (Status.FINISHED, [Severity.WARNING])])
def test_the_rest_of_a_run_that_goes_on_renews_the_target_too(status: Status, seen: list[Severity]) -> None:
    """constructed: two copies in a twentieth of the budget."""
    config = {"target_update_interval": 10_000, "train_freq": 1, "gradient_steps": 1}
    facts = scene(
        algorithm="DQN", series={"return/train": flat()}, config=config, steps=20_000, budget=400_000, status=status
    )
    found = target_moves_strangely.check(facts)
    assert ([found.severity] if found is not None else []) == seen


def test_copies_between_two_bursts_of_updates_count_as_one() -> None:
    """The recorded run copies its target every 10 steps and trains in bursts of 64 updates."""
    assert target_moves_strangely.check(fault("healthy_dqn_cartpole")) is None


@pytest.mark.parametrize("ratio", [20.0, 0.005])
def test_far_too_many_or_few_updates_are_an_alarm_when_the_return_is_poor(ratio: float) -> None:
    """constructed: ratios that nobody uses."""
    updates = ratio * np.linspace(1_000, 100_000, 60)
    poor = scene(algorithm="SAC", series={"updates": updates, "return/train": flat(20.0)})
    good = scene(algorithm="SAC", series={"updates": updates, "return/train": rising(20.0, 300.0)})
    for facts, severity in ((poor, Severity.WARNING), (good, Severity.INFO)):
        found = updates_per_step_extreme.check(facts)
        assert found is not None
        assert found.severity is severity
        assert found.evidence[0].value == pytest.approx(ratio, rel=0.1)


@pytest.mark.parametrize("config", [{"gradient_steps": 1, "train_freq": 4}, {"gradient_steps": -1, "train_freq": 8}])
def test_usual_ratios_are_fine(config: dict[str, object]) -> None:
    """constructed: settings that work elsewhere; -1 means as many updates as steps."""
    facts = scene(algorithm="SAC", series={"return/train": flat(20.0)}, config=config)
    assert updates_per_step_extreme.check(facts) is None


def test_a_budget_of_zero_is_no_budget() -> None:
    facts = scene(algorithm="DQN", series={"return/train": flat()}, config={"learning_starts": 1000}, budget=0.0)
    assert learning_starts_late.check(facts) is None
