"""Rules about rollouts, batches and the number of updates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.data import (
    batch_does_not_divide_rollout,
    batch_tiny,
    few_updates_in_budget,
    horizon_short_for_task,
    many_passes_over_data,
    rollout_shorter_than_episode,
    updates_fewer_than_expected,
)
from tests.rules.scene import fault, flat, recorded, rising, scene

PPO = {"n_steps": 128, "n_envs": 4, "batch_size": 64, "n_epochs": 10, "gamma": 0.99, "gae_lambda": 0.95}


def _patient(returns: np.ndarray, changes: dict[str, object], **fields: object) -> object:
    lengths = np.full(60, 500.0)
    return scene(series={"return/train": returns, "episode_length": lengths}, config={**PPO, **changes}, **fields)


def test_rollouts_of_a_few_steps_are_an_alarm_when_the_return_is_poor() -> None:
    """constructed: a rollout length that nobody records on purpose."""
    found = rollout_shorter_than_episode.check(_patient(flat(), {"n_steps": 2, "gae_lambda": 1.0}))  # type: ignore[arg-type]
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value == pytest.approx(0.02)


@pytest.mark.parametrize(("steps", "returns"), [(24, flat()), (2, rising())])
def test_usual_rollouts_and_learning_runs_are_fine(steps: int, returns: np.ndarray) -> None:
    """constructed: credit of lambda 0.95 flows over 17 steps."""
    assert rollout_shorter_than_episode.check(_patient(returns, {"n_steps": steps})) is None  # type: ignore[arg-type]


def test_the_short_rollouts_of_a2c_are_only_noted() -> None:
    """constructed: usual settings beside a poor return."""
    config = {"n_steps": 5, "n_envs": 8, "gamma": 0.99, "gae_lambda": 1.0}
    found = rollout_shorter_than_episode.check(
        scene(algorithm="A2C", series={"return/train": flat(), "episode_length": np.full(60, 500.0)}, config=config)
    )
    assert found is not None
    assert found.severity is Severity.INFO


def test_a_batch_that_does_not_divide_the_rollout_stops_gymnasium_solver() -> None:
    found = batch_does_not_divide_rollout.check(recorded("gymnasium_solver/runs/local-20260115-102500"))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "56 are left over" in found.summary


@pytest.mark.parametrize(("size", "expected"), [(100, Severity.INFO), (1024, Severity.INFO), (128, None)])
def test_sb3_goes_on_with_a_remainder(size: int, expected: Severity | None) -> None:
    """constructed: a rollout of 512 samples."""
    found = batch_does_not_divide_rollout.check(_patient(flat(), {"batch_size": size}))  # type: ignore[arg-type]
    assert (found.severity if found is not None else None) == expected


def test_a_batch_given_as_a_share_always_divides() -> None:
    """constructed: gymnasium-solver takes 0.3 as 30% of the rollout."""
    facts = _patient(flat(), {"batch_size": 0.3}, framework="gymnasium-solver")
    assert batch_does_not_divide_rollout.check(facts) is None  # type: ignore[arg-type]


def test_a_handful_of_updates_is_an_alarm_when_the_return_is_poor() -> None:
    """constructed: two runs that differ in their return alone."""
    changes = {"n_steps": 2048, "n_envs": 16, "batch_size": 32768, "n_epochs": 1}
    for returns, severity in ((flat(), Severity.WARNING), (rising(), Severity.INFO)):
        found = few_updates_in_budget.check(_patient(returns, changes))  # type: ignore[arg-type]
        assert found is not None
        assert found.severity is severity
        assert found.evidence[0].value == 3.0


def test_a_config_that_takes_the_updates_is_an_alarm_in_a_run_that_crept() -> None:
    """constructed: one pass over batches as large as the rollout, with a return that crept, that rose, and stopped."""
    changes = {"n_steps": 512, "n_envs": 4, "batch_size": 2048, "n_epochs": 1}
    crept = few_updates_in_budget.check(_patient(rising(27.0, 32.0), changes, budget=100_000))  # type: ignore[arg-type]
    rose = few_updates_in_budget.check(_patient(rising(), changes, budget=100_000))  # type: ignore[arg-type]
    assert crept is not None
    assert rose is not None
    assert (crept.severity, rose.severity) == (Severity.WARNING, Severity.INFO)
    assert "working configs make at least five times as many" in crept.summary


def test_few_updates_are_a_note_where_the_return_stands_still_while_they_go_on() -> None:
    """constructed: both missed a goal of 1000 with 20 updates; one was still on its way."""
    changes = {"n_steps": 1_250, "n_envs": 4, "batch_size": 5_000, "n_epochs": 1}
    level = np.minimum(np.arange(60.0) * 20.0, 200.0) + np.random.default_rng(0).normal(size=60)
    for returns, severity in ((level, Severity.INFO), (rising(20.0, 200.0), Severity.WARNING)):
        fields = {"budget": 100_000, "steps": 100_000, "threshold": 1000.0}
        found = few_updates_in_budget.check(_patient(returns, changes, **fields))  # type: ignore[arg-type]
        assert found is not None
        assert found.severity is severity


def test_few_updates_by_a_late_start_are_another_finding() -> None:
    """constructed: an update per env step after nine tenths of a short run."""
    config = {"learning_starts": 1_450, "train_freq": 1, "gradient_steps": 1, "n_envs": 1}
    facts = scene(algorithm="SAC", series={"return/train": flat()}, config=config, budget=1_600, steps=1_600)
    assert few_updates_in_budget.check(facts) is None


def test_hundreds_of_rollouts_are_enough() -> None:
    """constructed: 195 rollouts of 80 updates each."""
    assert few_updates_in_budget.check(_patient(flat(), {})) is None  # type: ignore[arg-type]


def test_updates_of_off_policy_runs_are_counted_from_the_start_of_learning() -> None:
    """constructed: 100 updates after a long start."""
    config = {"learning_starts": 60_000, "train_freq": 400, "gradient_steps": 1, "n_envs": 1}
    found = few_updates_in_budget.check(
        scene(algorithm="DQN", series={"return/train": flat()}, config=config, budget=100_000)
    )
    assert found is not None
    assert found.evidence[0].value == 100.0


def test_many_passes_with_a_large_kl_are_an_alarm_when_the_return_was_lost() -> None:
    found = many_passes_over_data.check(fault("many_epochs_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "80 passes and 640 gradient steps" in found.summary


@pytest.mark.parametrize(("returns", "kl", "epochs"), [(rising(), 0.5, 40), (flat(), 0.01, 40), (flat(), 0.5, 4)])
def test_many_passes_need_all_three_signs(returns: np.ndarray, kl: float, epochs: int) -> None:
    """constructed: one sign is missing in each."""
    series = {"return/train": returns, "approx_kl": flat(kl), "clip_fraction": flat(0.1)}
    assert many_passes_over_data.check(scene(series=series, config={**PPO, "n_epochs": epochs})) is None


def test_as_many_passes_as_a_working_config_of_the_task_are_not_blamed() -> None:
    """constructed: CartPole is trained with 20 passes; the learning rate is the fault here."""
    series = {"return/train": flat(10.0), "approx_kl": flat(0.5)}
    config = {**PPO, "n_epochs": 20}
    assert many_passes_over_data.check(scene(series=series, config=config, environment="CartPole-v1")) is None
    assert many_passes_over_data.check(scene(series=series, config=config)) is not None


def test_a_tiny_batch_is_noted_and_is_an_alarm_when_the_return_is_poor() -> None:
    """constructed: two runs that differ in their return alone."""
    for returns, severity in ((flat(), Severity.WARNING), (rising(), Severity.INFO)):
        found = batch_tiny.check(_patient(returns, {"batch_size": 4}))  # type: ignore[arg-type]
        assert found is not None
        assert found.severity is severity


def test_a_tiny_batch_that_learns_is_only_noted() -> None:
    found = batch_tiny.check(fault("small_batch_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.INFO


def test_usual_batches_and_shares_of_a_rollout_are_fine() -> None:
    """constructed: 1 means the whole rollout in gymnasium-solver."""
    assert batch_tiny.check(_patient(flat(), {"batch_size": 32})) is None  # type: ignore[arg-type]
    share = _patient(flat(), {"batch_size": 1}, framework="gymnasium-solver")
    assert batch_tiny.check(share) is None  # type: ignore[arg-type]


def _counted(share: float) -> object:
    """SB3 counts passes: 100,000 steps are 195 rollouts of 10 passes."""
    counter = share * np.linspace(32.0, 1953.0, 60)
    return scene(series={"updates": counter, "return/train": flat()}, config={**PPO, "target_kl": 0.001})


def test_a_counter_far_below_what_the_config_implies_is_an_alarm() -> None:
    """constructed: a target KL that ends nine of ten passes."""
    found = updates_fewer_than_expected.check(_counted(0.1))  # type: ignore[arg-type]
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value == pytest.approx(0.1, rel=0.05)


def test_a_target_kl_that_ends_every_pass_early_is_seen_in_the_counter() -> None:
    found = updates_fewer_than_expected.check(fault("tight_kl_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert [item.metric for item in found.evidence] == ["updates", "target_kl"]


def test_the_counter_of_a_recorded_run_agrees_with_its_config() -> None:
    facts = recorded("sb3/ppo_cartpole")
    assert "updates" in facts.run
    assert updates_fewer_than_expected.check(facts) is None
    assert updates_fewer_than_expected.check(_counted(0.9)) is None  # type: ignore[arg-type]


def test_losses_that_fall_silent_while_episodes_go_on_are_an_error() -> None:
    """constructed: the latching target KL of gymnasium-solver, whose runs are not among the recorded ones."""
    losses = scene(series={"policy_loss": np.ones(20)}, steps=15_000).run.series["policy_loss"]
    facts = scene(series={"policy_loss": losses, "return/train": flat(22.0, 120)})
    found = updates_fewer_than_expected.check(facts)
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.onset_step == 15_000


def test_losses_on_another_axis_are_not_compared() -> None:
    """constructed: a counter of updates beside one of env steps."""
    losses = replace(scene(series={"policy_loss": np.ones(20)}, steps=15_000).run.series["policy_loss"], axis="updates")
    facts = scene(series={"policy_loss": losses, "return/train": flat(22.0, 120)})
    assert updates_fewer_than_expected.check(facts) is None


def test_a_discount_of_a_tenth_is_an_alarm() -> None:
    found = horizon_short_for_task.check(fault("low_gamma_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_a_discount_that_is_known_to_work_on_the_task_is_not_blamed() -> None:
    facts = fault("narrow_std_ppo_pendulum")
    assert facts.setting("gamma") == 0.9
    assert horizon_short_for_task.check(facts) is None


def test_a_short_horizon_is_a_note_when_the_return_rises() -> None:
    """constructed: two runs that differ in their return alone."""
    for returns, severity in ((flat(), Severity.WARNING), (rising(), Severity.INFO)):
        found = horizon_short_for_task.check(_patient(returns, {"gamma": 0.5}))  # type: ignore[arg-type]
        assert found is not None
        assert found.severity is severity
        assert found.evidence[0].value == pytest.approx(2 / 500)


def test_a_horizon_shorter_than_that_of_any_working_config_is_surer() -> None:
    """constructed: ten steps are the shortest horizon that works anywhere."""
    found = [horizon_short_for_task.check(_patient(flat(), {"gamma": gamma})) for gamma in (0.5, 0.85)]  # type: ignore[arg-type]
    sure = [item.confidence for item in found if item is not None]
    assert len(sure) == 2
    assert sure[0] > sure[1]


@pytest.mark.parametrize("gamma", [0.98, 0.99, 1.0])
def test_usual_discounts_are_fine_whatever_the_return(gamma: float) -> None:
    """constructed: 100 of 1000 steps is the usual ratio of locomotion tasks."""
    assert horizon_short_for_task.check(_patient(flat(), {"gamma": gamma})) is None  # type: ignore[arg-type]


def test_the_length_of_a_known_task_counts_where_failing_episodes_are_short() -> None:
    """constructed: CartPole that falls after nine steps."""
    series = {"return/train": flat(9.0), "episode_length": flat(9.0)}
    facts = scene(series=series, config={"gamma": 0.5}, environment="CartPole-v1")
    found = horizon_short_for_task.check(facts)
    assert found is not None
    assert "500 steps" in found.summary


def test_updates_that_only_the_log_counts_are_few_or_not() -> None:
    """constructed: an off-policy run whose counter ends at thirty, one whose counter ends at three thousand."""

    def found(last: float) -> object:
        counted = {"return/train": flat(), "updates": np.linspace(1.0, last, 60)}
        return few_updates_in_budget.check(scene(algorithm="SAC", series=counted, steps=4000.0))

    assert found(30.0) is not None
    assert found(3000.0) is None
