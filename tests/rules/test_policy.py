"""Rules about the policy: entropy, KL, clipping, action noise, and updates that end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.rules.patient import Patient
from rlclinic.rules.policy import (
    action_std_collapses,
    action_std_grows,
    clip_fraction_without_kl,
    clipping_most_updates,
    clipping_never,
    entropy_fell_early,
    entropy_rises,
    entropy_stays_maximal,
    kl_drifts_up,
    kl_too_large,
    kl_vanishes,
    policy_died_early,
    updates_cease,
)
from tests.rules.build import flat, make_patient, make_run, rising
from tests.rules.recorded import HEALTHY, fault, recorded

RULES = (
    entropy_fell_early,
    entropy_stays_maximal,
    entropy_rises,
    kl_too_large,
    kl_vanishes,
    clipping_most_updates,
    clipping_never,
    action_std_collapses,
    action_std_grows,
    updates_cease,
    clip_fraction_without_kl,
    kl_drifts_up,
    policy_died_early,
)
FELL = np.concatenate([np.linspace(20.0, 200.0, 30), np.linspace(200.0, 15.0, 30)])


@pytest.mark.parametrize("path", HEALTHY)
def test_a_healthy_run_gets_nothing_above_a_note(path: str) -> None:
    patient = recorded(path)
    alarms = [s for rule in RULES if (s := rule.check(patient)) is not None and s.severity is not Severity.INFO]
    assert alarms == []


def _noisy(level: float, points: int = 60, share: float = 0.1, seed: int = 1) -> np.ndarray:
    return level * (1.0 + share * np.random.default_rng(seed).standard_normal(points))


def _cut(run: Run, names: tuple[str, ...], share: float) -> Run:
    """The run as if nothing had been logged under these names after a share of it."""
    kept = dict(run.series)
    for name in set(names) & set(kept):
        old = kept[name]
        part = old.steps <= share * run.steps
        kept[name] = replace(old, steps=old.steps[part], values=old.values[part])
    return replace(run, series=kept)


# The rule entropy-fell-early.


def test_a_policy_that_lost_its_entropy_and_its_return_is_an_alarm() -> None:
    found = entropy_fell_early.check(recorded("sb3/ppo_cartpole_high_lr"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step == 8960.0
    assert "0.1 % of 0.693" in found.summary


def test_entropy_that_is_gone_at_once_is_an_alarm_for_a2c_too() -> None:
    found = entropy_fell_early.check(fault("high_lr_a2c_cartpole"))
    assert found is not None
    assert found.onset_step == 800.0


def test_entropy_that_falls_while_the_return_climbs_is_convergence() -> None:
    """constructed: a task that ends in a deterministic policy."""
    entropy = np.concatenate([np.linspace(0.69, 0.01, 20), np.full(40, 0.01)])
    series = {"entropy": entropy, "return/train": rising()}
    assert entropy_fell_early.check(make_patient(series=series, config={"n_actions": 2})) is None


def test_the_same_entropy_with_a_flat_return_is_not() -> None:
    """constructed: the twin of the run above."""
    entropy = np.concatenate([np.linspace(0.69, 0.01, 20), np.full(40, 0.01)])
    patient = make_patient(series={"entropy": entropy, "return/train": flat()}, config={"n_actions": 2})
    assert entropy_fell_early.check(patient) is not None


def test_a_solved_task_may_have_any_entropy() -> None:
    """constructed: a run that begins and ends at its goal."""
    series = {"entropy": np.concatenate([np.full(10, 0.69), np.full(50, 0.001)]), "return/train": flat(500.0)}
    assert entropy_fell_early.check(make_patient(series=series, environment="CartPole-v1")) is None


def test_a_density_is_judged_by_its_fall_per_dimension() -> None:
    """constructed: the same fall of 6 nats over two dimensions and over twenty."""
    series = {"entropy": np.linspace(2.8, -3.2, 60), "return/train": flat(-300.0)}
    assert entropy_fell_early.check(make_patient(series=series, config={"action_shape": [2]})) is not None
    assert entropy_fell_early.check(make_patient(series=series, config={"action_shape": [20]})) is None
    assert entropy_fell_early.check(make_patient(series=series)) is None


def test_a_policy_that_begins_deterministic_is_judged_only_where_the_goal_is_known() -> None:
    """constructed: a resumed run, or one whose first update left nothing; only the goal tells them apart."""
    series = {"entropy": _noisy(1e-3), "return/train": flat(9.4)}
    assert entropy_fell_early.check(make_patient(series=series)) is None
    assert entropy_fell_early.check(make_patient(series=series, environment="CartPole-v1")) is not None


def test_a_short_run_is_not_judged_by_its_entropy() -> None:
    """constructed: eight points."""
    series = {"entropy": np.linspace(0.69, 0.001, 8), "return/train": flat(points=8)}
    assert entropy_fell_early.check(make_patient(series=series, config={"n_actions": 2})) is None


# The rule entropy-stays-maximal.


@pytest.mark.parametrize("name", ["low_lr_ppo_cartpole", "tight_grad_clip_ppo_cartpole", "large_reward_ppo_cartpole"])
def test_a_policy_that_stayed_uniform_is_an_alarm(name: str) -> None:
    found = entropy_stays_maximal.check(fault(name))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "ln(number of actions), 0.6931" in found.summary


def test_a_high_entropy_beside_a_rising_return_is_none() -> None:
    assert entropy_stays_maximal.check(fault("high_entropy_ppo_cartpole")) is None


def test_a_sparse_task_is_given_a_third_of_its_budget() -> None:
    """constructed: a run of 1M steps at 10 % and at 50 % of its budget."""
    series = {"entropy": 1.0986 * (1 - 1e-4 * np.arange(40)), "return/train": np.zeros(40)}
    assert entropy_stays_maximal.check(make_patient(series=series, budget=1e6)) is None
    assert entropy_stays_maximal.check(make_patient(series=series, budget=2e5)) is not None


def test_a_fixed_action_noise_has_a_constant_entropy_by_design() -> None:
    """constructed: rsl_rl and others can fix the standard deviation."""
    series = {"entropy": np.full(40, 1.4189), "return/train": flat()}
    assert entropy_stays_maximal.check(make_patient(series=series)) is None


def test_a_bonus_that_holds_the_policy_far_from_its_goal_is_an_alarm() -> None:
    """constructed: CartPole that stops at a tenth of the way, as ent_coef 1.0 does."""
    rise = np.concatenate([np.linspace(22.0, 70.0, 20), flat(70.0, 40)])
    series = {"entropy": np.linspace(0.693, 0.66, 60), "return/train": rise}
    fields = {"environment": "CartPole-v1", "config": {"n_actions": 2}}
    assert entropy_stays_maximal.check(make_patient(series=series, **fields)) is not None
    series["entropy"] = np.linspace(0.693, 0.55, 60)
    assert entropy_stays_maximal.check(make_patient(series=series, **fields)) is None


# The rule entropy-rises.


def test_entropy_that_comes_back_while_the_return_is_lost_is_an_alarm() -> None:
    """constructed: the recorded runs that fall end deterministic."""
    entropy = np.concatenate([np.linspace(0.69, 0.3, 30), np.linspace(0.3, 0.6, 30)])
    found = entropy_rises.check(make_patient(series={"entropy": entropy, "return/train": FELL}))
    assert found is not None
    assert found.onset_step is not None
    assert 40_000 < found.onset_step < 60_000


def test_a_small_rise_is_none_and_a_rising_return_excuses_a_large_one() -> None:
    """constructed: near misses of the run above."""
    small = np.concatenate([np.linspace(0.69, 0.3, 30), np.linspace(0.3, 0.38, 30)])
    large = np.concatenate([np.linspace(0.69, 0.3, 30), np.linspace(0.3, 0.6, 30)])
    assert entropy_rises.check(make_patient(series={"entropy": small, "return/train": FELL})) is None
    assert entropy_rises.check(make_patient(series={"entropy": large, "return/train": rising()})) is None


def test_a_density_that_widens_beside_a_flat_return_rises() -> None:
    found = entropy_rises.check(fault("growing_std_ppo_pendulum"))
    assert found is None, "its return gained"
    series = {"entropy": np.linspace(1.4, 4.0, 60), "return/train": flat(-1200.0)}
    assert entropy_rises.check(make_patient(series=series, config={"action_shape": [1]})) is not None
    assert entropy_rises.check(make_patient(series=series, config={"action_shape": [10]})) is None


# The rule kl-too-large.


def test_updates_of_half_a_nat_that_ruin_the_return_are_an_error() -> None:
    found = kl_too_large.check(recorded("sb3/ppo_cartpole_high_lr"))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "0.669 nats" in found.summary


def test_a_burst_that_the_return_did_not_survive_is_an_alarm() -> None:
    found = kl_too_large.check(fault("high_lr_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step == 4096.0


def test_updates_of_two_nats_are_an_alarm_even_where_the_return_gains() -> None:
    found = kl_too_large.check(fault("many_epochs_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_kl_of_a_tenth_is_common_with_many_dimensions() -> None:
    """constructed: the level of working locomotion runs with a wide clip."""
    series = {"approx_kl": _noisy(0.1), "return/train": flat()}
    assert kl_too_large.check(make_patient(series=series, config={"clip_range": 0.4})) is None


def test_one_spike_that_the_return_survives_is_harmless() -> None:
    """constructed: one odd minibatch."""
    kl = _noisy(0.01)
    kl[30] = 5.0
    assert kl_too_large.check(make_patient(series={"approx_kl": kl, "return/train": rising()})) is None


# The rule kl-vanishes.


@pytest.mark.parametrize("name", ["low_lr_ppo_cartpole", "tight_grad_clip_ppo_cartpole", "large_reward_ppo_cartpole"])
def test_a_policy_that_cannot_have_moved_is_an_alarm(name: str) -> None:
    found = kl_vanishes.check(fault(name))
    assert found is not None
    assert found.confidence == 0.9
    assert "move a probability by at most" in found.summary


def test_one_gradient_step_per_batch_has_no_kl_by_construction() -> None:
    """constructed: the same metrics under three configs."""
    series = {"approx_kl": np.zeros(40), "clip_fraction": np.zeros(40), "return/train": flat(points=40)}
    one = {"n_epochs": 1, "n_minibatches": 1}
    assert kl_vanishes.check(make_patient(series=series, config=one)) is None
    assert kl_vanishes.check(make_patient(series=series)) is None
    assert kl_vanishes.check(make_patient(series=series, config={"n_epochs": 10})) is not None


def test_a_policy_that_was_destroyed_at_once_did_move() -> None:
    """constructed: one jump, then calm; a destroyed policy looks like a learning rate that is too low."""
    kl = np.concatenate([[3.0], np.zeros(39)])
    patient = make_patient(series={"approx_kl": kl, "return/train": flat(9.0, 40)}, config={"n_epochs": 10})
    assert kl_vanishes.check(patient) is None


def test_a_printed_zero_is_not_zero() -> None:
    """constructed: three decimals hide any KL below 0.0005, four decimals only below 0.00005."""
    run = make_run(series={"approx_kl": np.zeros(40), "return/train": flat(points=40)}, config={"n_epochs": 10})
    for decimals, expected in ((3, False), (4, True)):
        printed = replace(run.series["approx_kl"], decimals=decimals)
        patient = Patient(replace(run, series={**run.series, "approx_kl": printed}))
        assert (kl_vanishes.check(patient) is not None) is expected


def test_a_run_that_learns_with_tiny_steps_is_fine() -> None:
    """constructed: small KL beside a rising return."""
    series = {"approx_kl": _noisy(1e-5), "return/train": rising()}
    assert kl_vanishes.check(make_patient(series=series, config={"n_epochs": 10})) is None


# The rule clipping-most-updates.


def test_clipping_most_ratios_beyond_the_clip_is_an_alarm_when_the_return_was_lost() -> None:
    """constructed: the recorded runs of this kind calm down before they end."""
    series = {"clip_fraction": _noisy(0.6), "approx_kl": _noisy(0.2), "return/train": FELL}
    found = clipping_most_updates.check(make_patient(series=series, config={"clip_range": 0.2}))
    assert found is not None
    assert found.severity is Severity.WARNING
    series["return/train"] = rising()
    noted = clipping_most_updates.check(make_patient(series=series, config={"clip_range": 0.2}))
    assert noted is not None
    assert noted.severity is Severity.INFO


def test_a_tight_clip_clips_without_harm() -> None:
    assert clipping_most_updates.check(fault("tight_clip_ppo_cartpole")) is None


def test_a_clip_fraction_of_a_third_is_common() -> None:
    """constructed: just below the bar."""
    series = {"clip_fraction": _noisy(0.33), "approx_kl": _noisy(0.2), "return/train": FELL}
    assert clipping_most_updates.check(make_patient(series=series, config={"clip_range": 0.2})) is None


# The rule clipping-never.


def test_a_clip_that_never_acts_beside_a_flat_return_is_an_alarm_without_a_remedy() -> None:
    found = clipping_never.check(fault("low_lr_ppo_cartpole"))
    assert found is not None
    assert "either nothing moves or the scale hides it" in found.summary


def test_a_clip_that_acted_once_is_another_story() -> None:
    """constructed: a policy that jumped in its first update and is still since."""
    fraction = np.concatenate([[0.9], np.zeros(59)])
    patient = make_patient(series={"clip_fraction": fraction, "return/train": flat()}, config={"n_epochs": 10})
    assert clipping_never.check(patient) is None


def test_no_clipping_with_one_gradient_step_per_batch_is_by_construction() -> None:
    """constructed: A2C-like settings of PPO."""
    series = {"clip_fraction": np.zeros(60), "return/train": flat()}
    one = {"n_epochs": 1, "rollout_size": 512, "batch_size": 512}
    assert clipping_never.check(make_patient(series=series, config=one)) is None
    assert clipping_never.check(make_patient(series=series, config={**one, "batch_size": 64})) is not None


# The rule action-std-collapses.


def test_action_noise_that_shrinks_for_nothing_is_an_alarm() -> None:
    """constructed: no recorded run narrows without a gain."""
    series = {"action_std/mean": np.geomspace(1.0, 0.03, 60), "return/train": flat(-1200.0)}
    found = action_std_collapses.check(make_patient(series=series))
    assert found is not None
    assert found.onset_step is not None


def test_action_noise_that_shrinks_while_the_return_climbs_is_convergence() -> None:
    """constructed: the same fall beside a climb; and half the fall beside a flat return."""
    narrow = np.geomspace(1.0, 0.03, 60)
    climb = {"action_std/mean": narrow, "return/train": rising(-1200.0, -200.0)}
    assert action_std_collapses.check(make_patient(series=climb)) is None
    half = {"action_std/mean": np.geomspace(1.0, 0.2, 60), "return/train": flat(-1200.0)}
    assert action_std_collapses.check(make_patient(series=half)) is None
    assert action_std_collapses.check(fault("narrow_std_ppo_pendulum")) is None


def test_one_dead_dimension_is_an_alarm() -> None:
    """constructed: a reward that ignores one action."""
    series = {"action_std/mean": _noisy(0.8), "action_std/min": _noisy(0.005), "return/train": flat(-1200.0)}
    found = action_std_collapses.check(make_patient(series=series))
    assert found is not None
    assert "narrowest" in found.summary


# The rule action-std-grows.


def test_action_noise_without_bound_is_an_alarm() -> None:
    found = action_std_grows.check(fault("growing_std_ppo_pendulum"))
    assert found is not None
    assert "grew 118 times" in found.summary


def test_action_noise_counts_without_a_return_only_if_it_grew_fivefold() -> None:
    """constructed: a run that logs no return."""
    assert action_std_grows.check(make_patient(series={"action_std/mean": np.geomspace(1, 20, 60)})) is not None
    assert action_std_grows.check(make_patient(series={"action_std/mean": np.geomspace(1, 4, 60)})) is None


def test_action_noise_that_grows_beside_a_rising_return_is_none() -> None:
    """constructed: exploration that pays."""
    series = {"action_std/mean": np.geomspace(0.3, 5.0, 60), "return/train": rising()}
    assert action_std_grows.check(make_patient(series=series)) is None
    assert action_std_grows.check(fault("wide_std_ppo_pendulum")) is None


# The rule updates-cease.

LOGGED = ("policy_loss", "value_loss", "loss", "approx_kl", "entropy", "explained_variance", "grad_norm", "updates")


def test_updates_that_end_early_are_an_error() -> None:
    """constructed: a recorded flat run whose training metrics are cut, as a target KL that latches leaves them."""
    run = _cut(fault("low_lr_ppo_cartpole").run, LOGGED, 0.2)
    found = updates_cease.check(Patient(run))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.onset_step == pytest.approx(0.2 * run.steps, rel=0.2)


def test_updates_that_are_still_counted_go_on() -> None:
    """constructed: the same run with its counter of updates."""
    run = _cut(fault("low_lr_ppo_cartpole").run, tuple(name for name in LOGGED if name != "updates"), 0.2)
    assert updates_cease.check(Patient(run)) is None


def test_a_log_that_lost_its_losses_while_the_return_rises_is_none() -> None:
    """constructed: a recorded run that learns, with its training metrics cut."""
    run = _cut(recorded("sb3/ppo_cartpole").run, LOGGED, 0.2)
    assert updates_cease.check(Patient(run)) is None


def test_metrics_that_freeze_to_the_last_digit_are_an_error() -> None:
    """constructed: a trainer that repeats its last metrics."""
    moving = _noisy(0.5, 20)
    frozen = np.concatenate([moving, np.full(40, moving[-1])])
    series = {"policy_loss": frozen, "value_loss": 3 * frozen, "return/train": flat()}
    found = updates_cease.check(make_patient(series=series))
    assert found is not None
    assert "constant to the last digit" in found.summary
    series["value_loss"] = _noisy(3.0)
    assert updates_cease.check(make_patient(series=series)) is None


def test_metrics_that_are_no_numbers_are_not_constant() -> None:
    assert updates_cease.check(fault("nan_reward_dqn_cartpole")) is None
    ruined = np.concatenate([_noisy(0.5, 20), np.full(40, np.nan)])
    series = {"policy_loss": ruined, "value_loss": 3 * ruined, "return/train": flat()}
    assert updates_cease.check(make_patient(series=series)) is None


def test_a_counter_that_stands_still_is_an_error() -> None:
    """constructed: n_updates no longer grows."""
    counter = np.minimum(np.arange(60.0), 15.0)
    series = {"policy_loss": _noisy(0.5), "updates": counter, "return/train": flat()}
    found = updates_cease.check(make_patient(series=series))
    assert found is not None
    assert "counter" in found.summary


# The rule clip-fraction-without-kl.


def test_a_clip_that_is_too_tight_shows_as_clipping_without_kl() -> None:
    found = clip_fraction_without_kl.check(fault("tight_clip_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "clip range of 0.001" in found.summary


def test_clipping_without_kl_is_a_note_where_the_return_rises() -> None:
    """constructed: a tight clip that is slow and works."""
    series = {"clip_fraction": _noisy(0.5), "approx_kl": _noisy(2e-4), "return/train": rising()}
    found = clip_fraction_without_kl.check(make_patient(series=series))
    assert found is not None
    assert found.severity is Severity.INFO


def test_clipping_with_a_usual_kl_is_none() -> None:
    """constructed: a high clip fraction beside the KL that belongs to it."""
    series = {"clip_fraction": _noisy(0.5), "approx_kl": _noisy(2e-3), "return/train": flat()}
    assert clip_fraction_without_kl.check(make_patient(series=series)) is None


# The rule kl-drifts-up.


def test_kl_that_grows_beyond_the_clip_before_a_fall_is_an_alarm() -> None:
    """constructed: a slow drift; recorded runs with too large steps show it from the start."""
    series = {"approx_kl": np.geomspace(0.004, 0.15, 60), "return/train": FELL}
    found = kl_drifts_up.check(make_patient(series=series, config={"clip_range": 0.2}))
    assert found is not None
    assert found.onset_step is not None


def test_kl_that_grows_within_the_clip_or_beside_a_rise_is_none() -> None:
    """constructed: a Gaussian policy that narrows as it learns."""
    within = {"approx_kl": np.geomspace(0.002, 0.02, 60), "return/train": FELL}
    assert kl_drifts_up.check(make_patient(series=within, config={"clip_range": 0.2})) is None
    beside = {"approx_kl": np.geomspace(0.004, 0.15, 60), "return/train": rising()}
    assert kl_drifts_up.check(make_patient(series=beside, config={"clip_range": 0.2})) is None


# The rule policy-died-early.


@pytest.mark.parametrize("path", ["faults/high_lr_ppo_cartpole", "sb3/ppo_cartpole_high_lr"])
def test_a_dead_policy_that_looks_calm_is_an_error(path: str) -> None:
    found = policy_died_early.check(recorded(path))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.onset_step is not None


def test_a_policy_that_never_moved_is_not_dead() -> None:
    assert policy_died_early.check(fault("low_lr_ppo_cartpole")) is None


def test_a_calm_policy_with_a_good_return_has_converged() -> None:
    """constructed: the metrics of a dead policy beside a return that climbed."""
    series = {
        "entropy": np.geomspace(0.69, 1e-4, 60),
        "approx_kl": np.concatenate([np.full(10, 0.2), np.full(50, 1e-5)]),
        "return/train": rising(),
    }
    assert policy_died_early.check(make_patient(series=series)) is None
    series["return/train"] = np.concatenate([np.full(10, 22.0), np.full(50, 9.4)])
    assert policy_died_early.check(make_patient(series=series)) is not None


def test_gradients_tell_of_the_burst_where_kl_is_not_logged() -> None:
    """constructed: A2C logs no KL."""
    series: dict[str, np.ndarray | Series] = {
        "entropy": np.geomspace(0.69, 1e-4, 60),
        "grad_norm": np.concatenate([np.full(10, 500.0), np.full(50, 0.1)]),
        "return/train": np.concatenate([np.full(10, 22.0), np.full(50, 9.4)]),
    }
    assert policy_died_early.check(make_patient(algorithm="A2C", series=series)) is not None
    series["grad_norm"] = np.full(60, 0.1)
    assert policy_died_early.check(make_patient(algorithm="A2C", series=series)) is None
