"""Rules about how random the policy is: entropy, action noise, and a policy that died."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.policy import (
    action_std_collapses,
    action_std_grows,
    entropy_fell_early,
    entropy_rises,
    entropy_stays_maximal,
    policy_died_early,
)
from tests.rules.scene import FELL, fault, flat, recorded, rising, scene

# The rule entropy-fell-early.


def test_a_policy_that_lost_its_entropy_and_its_return_is_an_alarm() -> None:
    found = entropy_fell_early.check(recorded("sb3/ppo_cartpole_high_lr"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step == 8960.0
    assert "0.1% of at least 0.693" in found.summary


def test_entropy_that_is_gone_at_once_is_an_alarm_for_a2c_too() -> None:
    found = entropy_fell_early.check(fault("high_lr_a2c_cartpole"))
    assert found is not None
    assert found.onset_step == 800.0


def test_entropy_that_falls_while_the_return_climbs_is_convergence() -> None:
    """constructed: a task that ends in a deterministic policy."""
    entropy = np.concatenate([np.linspace(0.69, 0.01, 20), np.full(40, 0.01)])
    series = {"entropy": entropy, "return/train": rising()}
    assert entropy_fell_early.check(scene(series=series, config={"n_actions": 2})) is None


def test_the_same_entropy_with_a_flat_return_is_not() -> None:
    """constructed: the twin of the run above."""
    entropy = np.concatenate([np.linspace(0.69, 0.01, 20), np.full(40, 0.01)])
    facts = scene(series={"entropy": entropy, "return/train": flat()}, config={"n_actions": 2})
    assert entropy_fell_early.check(facts) is not None


def test_a_solved_task_may_have_any_entropy() -> None:
    """constructed: a run that begins and ends at its goal."""
    series = {"entropy": np.concatenate([np.full(10, 0.69), np.full(50, 0.001)]), "return/train": flat(500.0)}
    assert entropy_fell_early.check(scene(series=series, environment="CartPole-v1")) is None


def test_a_density_is_judged_by_its_fall_per_dimension() -> None:
    """constructed: the same fall of 6 nats over two dimensions and over twenty."""
    series = {"entropy": np.linspace(2.8, -3.2, 60), "return/train": flat(-300.0)}
    assert entropy_fell_early.check(scene(series=series, config={"action_shape": [2]})) is not None
    assert entropy_fell_early.check(scene(series=series, config={"action_shape": [20]})) is None
    assert entropy_fell_early.check(scene(series=series)) is None


def test_a_policy_that_begins_deterministic_is_judged_only_where_the_goal_is_known() -> None:
    """constructed: a resumed run, or one whose first update left nothing; only the goal tells them apart."""
    series = {"entropy": flat(1e-3, noise=0.1), "return/train": flat(9.4)}
    assert entropy_fell_early.check(scene(series=series)) is None
    assert entropy_fell_early.check(scene(series=series, environment="CartPole-v1")) is not None


def test_a_short_run_is_not_judged_by_its_entropy() -> None:
    """constructed: eight points."""
    series = {"entropy": np.linspace(0.69, 0.001, 8), "return/train": flat(points=8)}
    assert entropy_fell_early.check(scene(series=series, config={"n_actions": 2})) is None


# The rule entropy-stays-maximal.


@pytest.mark.parametrize("name", ["low_lr_ppo_cartpole", "tight_grad_clip_ppo_cartpole", "large_reward_ppo_cartpole"])
def test_a_policy_that_stayed_uniform_is_an_alarm(name: str) -> None:
    found = entropy_stays_maximal.check(fault(name))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "ln(number of actions), 0.6931" in found.summary


def test_a_high_entropy_beside_a_rising_return_is_a_note_where_a_bonus_holds_it() -> None:
    found = entropy_stays_maximal.check(fault("high_entropy_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.INFO
    assert entropy_stays_maximal.check(fault("few_updates_ppo_cartpole")) is None


def test_a_bonus_is_not_blamed_before_the_budget_is_used_up() -> None:
    """constructed: the same run at a half and at the end of its budget."""
    series = {"entropy": np.linspace(0.693, 0.66, 60), "return/train": rising()}
    config = {"n_actions": 2, "ent_coef": 1.0}
    assert entropy_stays_maximal.check(scene(series=series, config=config, budget=200_000)) is None
    assert entropy_stays_maximal.check(scene(series=series, config=config, budget=100_000)) is not None


def test_a_sparse_task_is_given_a_third_of_its_budget() -> None:
    """constructed: a run of 1M steps at 10% and at 50% of its budget."""
    series = {"entropy": 1.0986 * (1 - 1e-4 * np.arange(40)), "return/train": np.zeros(40)}
    assert entropy_stays_maximal.check(scene(series=series, budget=1e6)) is None
    assert entropy_stays_maximal.check(scene(series=series, budget=2e5)) is not None


def test_a_fixed_action_noise_has_a_constant_entropy_by_design() -> None:
    """constructed: rsl_rl and others can fix the standard deviation."""
    series = {"entropy": np.full(40, 1.4189), "return/train": flat()}
    assert entropy_stays_maximal.check(scene(series=series)) is None


def test_a_bonus_that_holds_the_policy_far_from_its_goal_is_an_alarm() -> None:
    """constructed: CartPole that stops at a tenth of the way, as ent_coef 1.0 does."""
    rise = np.concatenate([np.linspace(22.0, 70.0, 20), flat(70.0, 40)])
    series = {"entropy": np.linspace(0.693, 0.66, 60), "return/train": rise}
    fields = {"environment": "CartPole-v1", "config": {"n_actions": 2}}
    assert entropy_stays_maximal.check(scene(series=series, **fields)) is not None
    series["entropy"] = np.linspace(0.693, 0.55, 60)
    assert entropy_stays_maximal.check(scene(series=series, **fields)) is None


# The rule entropy-rises.


def test_entropy_that_comes_back_while_the_return_is_lost_is_an_alarm() -> None:
    found = entropy_rises.check(fault("growing_bonus_ppo_cartpole"))
    assert found is not None
    assert found.onset_step == pytest.approx(9_728, rel=0.1)


def test_a_small_rise_is_none_and_a_rising_return_excuses_a_large_one() -> None:
    """constructed: near misses of the run above, half as large or beside a rise."""
    small = np.concatenate([np.linspace(0.69, 0.3, 30), np.linspace(0.3, 0.38, 30)])
    large = np.concatenate([np.linspace(0.69, 0.3, 30), np.linspace(0.3, 0.6, 30)])
    assert entropy_rises.check(scene(series={"entropy": small, "return/train": FELL})) is None
    assert entropy_rises.check(scene(series={"entropy": large, "return/train": rising()})) is None


def test_a_density_that_widens_beside_a_flat_return_rises() -> None:
    found = entropy_rises.check(fault("growing_std_ppo_pendulum"))
    assert found is None, "its return gained"
    series = {"entropy": np.linspace(1.4, 4.0, 60), "return/train": flat(-1200.0)}
    assert entropy_rises.check(scene(series=series, config={"action_shape": [1]})) is not None
    assert entropy_rises.check(scene(series=series, config={"action_shape": [10]})) is None


# The rule action-std-collapses.


def test_action_noise_that_shrinks_for_nothing_is_an_alarm() -> None:
    found = action_std_collapses.check(fault("negative_bonus_ppo_pendulum"))
    assert found is not None
    assert "fell from 0.735 to 0.00193" in found.summary


def test_action_noise_that_shrinks_while_the_return_climbs_is_convergence() -> None:
    """constructed: the same fall beside a climb; and half the fall beside a flat return."""
    narrow = np.geomspace(1.0, 0.03, 60)
    climb = {"action_std/mean": narrow, "return/train": rising(-1200.0, -200.0)}
    assert action_std_collapses.check(scene(series=climb)) is None
    half = {"action_std/mean": np.geomspace(1.0, 0.2, 60), "return/train": flat(-1200.0)}
    assert action_std_collapses.check(scene(series=half)) is None
    assert action_std_collapses.check(fault("narrow_std_ppo_pendulum")) is None


def test_one_dead_dimension_is_an_alarm() -> None:
    """constructed: a reward that ignores one action."""
    series = {
        "action_std/mean": flat(0.8, noise=0.1),
        "action_std/min": flat(0.005, noise=0.1),
        "return/train": flat(-1200.0),
    }
    found = action_std_collapses.check(scene(series=series))
    assert found is not None
    assert "narrowest" in found.summary


# The rule action-std-grows.


def test_action_noise_without_bound_is_an_alarm() -> None:
    found = action_std_grows.check(fault("growing_std_ppo_pendulum"))
    assert found is not None
    assert "grew 118 times" in found.summary


def test_action_noise_counts_without_a_return_only_if_it_grew_fivefold() -> None:
    """constructed: a run that logs no return."""
    assert action_std_grows.check(scene(series={"action_std/mean": np.geomspace(1, 20, 60)})) is not None
    assert action_std_grows.check(scene(series={"action_std/mean": np.geomspace(1, 4, 60)})) is None


def test_action_noise_that_grows_beside_a_rising_return_is_none() -> None:
    """constructed: exploration that pays."""
    series = {"action_std/mean": np.geomspace(0.3, 5.0, 60), "return/train": rising()}
    assert action_std_grows.check(scene(series=series)) is None
    assert action_std_grows.check(fault("wide_std_ppo_pendulum")) is None


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
    assert policy_died_early.check(scene(series=series)) is None
    series["return/train"] = np.concatenate([np.full(10, 22.0), np.full(50, 9.4)])
    assert policy_died_early.check(scene(series=series)) is not None


def test_gradients_tell_of_the_burst_where_kl_is_not_logged() -> None:
    """constructed: A2C logs no KL."""
    series: dict[str, np.ndarray | Series] = {
        "entropy": np.geomspace(0.69, 1e-4, 60),
        "grad_norm": np.concatenate([np.full(10, 500.0), np.full(50, 0.1)]),
        "return/train": np.concatenate([np.full(10, 22.0), np.full(50, 9.4)]),
    }
    assert policy_died_early.check(scene(algorithm="A2C", series=series)) is not None
    series["grad_norm"] = np.full(60, 0.1)
    assert policy_died_early.check(scene(algorithm="A2C", series=series)) is None
