"""Rules about the policy's updates: KL, clipping, and updates that end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.update_count import batch
from rlclinic.model.finding import Severity
from rlclinic.model.run import Run, Status
from rlclinic.rules.policy import (
    clip_fraction_high,
    clip_fraction_without_kl,
    clip_fraction_zero,
    kl_drifts_up,
    kl_too_large,
    kl_vanishes,
    policy_died_early,
    updates_cease,
)
from tests.rules.scene import FELL, fault, flat, recorded, rising, scene


def _cut(run: Run, names: tuple[str, ...], share: float) -> Run:
    """The run as if nothing had been logged under these names after a share of it."""
    kept = dict(run.series)
    for name in set(names) & set(kept):
        old = kept[name]
        part = old.steps <= share * run.steps
        kept[name] = replace(old, steps=old.steps[part], values=old.values[part])
    return replace(run, series=kept)


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
    assert found.severity is Severity.ERROR


def test_kl_of_a_tenth_is_common_with_many_dimensions() -> None:
    """constructed: the level of working locomotion runs with a wide clip."""
    series = {"approx_kl": flat(0.1, noise=0.1), "return/train": flat()}
    assert kl_too_large.check(scene(series=series, config={"clip_range": 0.4})) is None


def test_one_spike_that_the_return_survives_is_harmless() -> None:
    """constructed: one odd minibatch."""
    kl = flat(0.01, noise=0.1)
    kl[30] = 5.0
    assert kl_too_large.check(scene(series={"approx_kl": kl, "return/train": rising()})) is None


@pytest.mark.parametrize(("points", "end", "is_error"), [(4, 90.0, True), (4, 500.0, False), (40, 90.0, True)])
def test_updates_that_replace_the_policy_count_however_few_until_the_goal_is_reached(
    points: int, end: float, *, is_error: bool
) -> None:
    """constructed: KL of 20 nats in every update of CartPole, beside a return that rises all the same."""
    series = {"approx_kl": flat(20.0, points, noise=0.3), "return/train": np.linspace(end - 70.0, end, points)}
    found = kl_too_large.check(scene(series=series, environment="CartPole-v1"))
    assert found is not None
    assert (found.severity is Severity.ERROR) is is_error
    few = {**series, "approx_kl": flat(0.6, points, noise=0.0)}
    assert (kl_too_large.check(scene(series=few, environment="CartPole-v1")) is None) is (points < 10)


def test_one_update_that_kills_the_policy_is_seen_in_four_rows() -> None:
    """constructed: a jump of 30 nats, then nothing moves any more, with the return at its worst."""
    series = {
        "approx_kl": np.array([30.0, 0.0, 0.0, 0.0]),
        "entropy": np.array([0.01, 0.0, 0.0, 0.0]),
        "return/train": np.array([21.0, 9.3, 9.4, 9.3, 9.4]),
    }
    found = policy_died_early.check(scene(series=series, environment="CartPole-v1"))
    assert found is not None
    assert found.severity is Severity.ERROR
    calm = {**series, "approx_kl": np.array([0.3, 0.0, 0.0, 0.0])}
    assert policy_died_early.check(scene(series=calm, environment="CartPole-v1")) is None


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
    assert kl_vanishes.check(scene(series=series, config=one)) is None
    assert kl_vanishes.check(scene(series=series)) is None
    assert kl_vanishes.check(scene(series=series, config={"n_epochs": 10})) is not None


def test_two_updates_of_each_quarter_show_that_a_policy_stands_still() -> None:
    """constructed: a run of twenty updates, at two fifths of its budget."""
    for points, confidence in ((7, []), (8, [0.9])):
        series = {"approx_kl": np.full(points, 1e-7), "return/train": flat(points=points)}
        found = kl_vanishes.check(scene(series=series, config={"n_epochs": 10}, status=Status.RUNNING))
        assert ([found.confidence] if found is not None else []) == confidence


def test_a_policy_that_was_destroyed_at_once_did_move() -> None:
    """constructed: one jump, then calm; a destroyed policy looks like a learning rate that is too low."""
    kl = np.concatenate([[3.0], np.zeros(39)])
    facts = scene(series={"approx_kl": kl, "return/train": flat(9.0, 40)}, config={"n_epochs": 10})
    assert kl_vanishes.check(facts) is None


def test_a_printed_zero_is_not_zero() -> None:
    """constructed: three decimals hide any KL below 0.0005, four decimals only below 0.00005."""
    run = scene(series={"approx_kl": np.zeros(40), "return/train": flat(points=40)}, config={"n_epochs": 10}).run
    for decimals, expected in ((3, False), (4, True)):
        printed = replace(run.series["approx_kl"], decimals=decimals)
        facts = RunFacts(replace(run, series={**run.series, "approx_kl": printed}))
        assert (kl_vanishes.check(facts) is not None) is expected


def test_a_run_that_learns_with_tiny_steps_is_fine() -> None:
    """constructed: small KL beside a rising return."""
    series = {"approx_kl": flat(1e-5, noise=0.1), "return/train": rising()}
    assert kl_vanishes.check(scene(series=series, config={"n_epochs": 10})) is None


# The rule clip-fraction-high.


def test_clipping_most_ratios_beyond_the_clip_is_an_alarm_unless_the_return_rises() -> None:
    found = clip_fraction_high.check(fault("beyond_clip_ppo_pendulum"))
    assert found is not None
    assert found.severity is Severity.WARNING
    # constructed: no recorded run learns like this
    series = {"clip_fraction": flat(0.6, noise=0.1), "approx_kl": flat(0.2, noise=0.1), "return/train": rising()}
    noted = clip_fraction_high.check(scene(series=series, config={"clip_range": 0.2}))
    assert noted is not None
    assert noted.severity is Severity.INFO


def test_a_tight_clip_clips_without_harm() -> None:
    assert clip_fraction_high.check(fault("tight_clip_ppo_cartpole")) is None


def test_a_clip_fraction_of_a_third_is_common() -> None:
    """constructed: just below the bar."""
    series = {"clip_fraction": flat(0.33, noise=0.1), "approx_kl": flat(0.2, noise=0.1), "return/train": FELL}
    assert clip_fraction_high.check(scene(series=series, config={"clip_range": 0.2})) is None


# The rule clip-fraction-zero.


def test_a_clip_that_never_acts_beside_a_flat_return_is_an_alarm_without_a_remedy() -> None:
    found = clip_fraction_zero.check(fault("low_lr_ppo_cartpole"))
    assert found is not None
    assert "either nothing moves or the scale hides it" in found.summary


def test_a_clip_that_acted_once_is_another_story() -> None:
    """constructed: a policy that jumped in its first update and is still since."""
    fraction = np.concatenate([[0.9], np.zeros(59)])
    facts = scene(series={"clip_fraction": fraction, "return/train": flat()}, config={"n_epochs": 10})
    assert clip_fraction_zero.check(facts) is None


def test_no_clipping_with_one_gradient_step_per_batch_is_by_construction() -> None:
    """constructed: A2C-like settings of PPO."""
    series = {"clip_fraction": np.zeros(60), "return/train": flat()}
    one = {"n_epochs": 1, "rollout_size": 512, "batch_size": 512}
    assert clip_fraction_zero.check(scene(series=series, config=one)) is None
    assert clip_fraction_zero.check(scene(series=series, config={**one, "batch_size": 64})) is not None


# The rule updates-cease.

LOGGED = ("policy_loss", "value_loss", "loss", "approx_kl", "entropy", "explained_variance", "grad_norm", "updates")


def test_updates_that_end_early_are_an_error() -> None:
    found = updates_cease.check(fault("latched_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.onset_step == 4_608


def test_updates_that_are_still_counted_go_on() -> None:
    """constructed: a recorded flat run whose training metrics are cut, but for its counter of updates."""
    run = _cut(fault("low_lr_ppo_cartpole").run, tuple(name for name in LOGGED if name != "updates"), 0.2)
    assert updates_cease.check(RunFacts(run)) is None


def test_a_log_that_lost_its_losses_while_the_return_rises_is_none() -> None:
    """constructed: a recorded run that learns, with its training metrics cut."""
    run = _cut(recorded("sb3/ppo_cartpole").run, LOGGED, 0.2)
    assert updates_cease.check(RunFacts(run)) is None


def test_metrics_that_freeze_to_the_last_digit_are_an_error() -> None:
    """constructed: a trainer that repeats its last metrics."""
    moving = flat(0.5, 20, noise=0.1)
    frozen = np.concatenate([moving, np.full(40, moving[-1])])
    series = {"policy_loss": frozen, "value_loss": 3 * frozen, "return/train": flat()}
    found = updates_cease.check(scene(series=series))
    assert found is not None
    assert "constant to the last digit" in found.summary
    series["value_loss"] = flat(3.0, noise=0.1)
    assert updates_cease.check(scene(series=series)) is None


def test_metrics_that_are_no_numbers_are_not_constant() -> None:
    assert updates_cease.check(fault("nan_reward_dqn_cartpole")) is None
    ruined = np.concatenate([flat(0.5, 20, noise=0.1), np.full(40, np.nan)])
    series = {"policy_loss": ruined, "value_loss": 3 * ruined, "return/train": flat()}
    assert updates_cease.check(scene(series=series)) is None


def test_a_counter_that_stands_still_is_an_error() -> None:
    """constructed: n_updates no longer grows."""
    counter = np.minimum(np.arange(60.0), 15.0)
    series = {"policy_loss": flat(0.5, noise=0.1), "updates": counter, "return/train": flat()}
    found = updates_cease.check(scene(series=series))
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
    series = {"clip_fraction": flat(0.5, noise=0.1), "approx_kl": flat(2e-4, noise=0.1), "return/train": rising()}
    found = clip_fraction_without_kl.check(scene(series=series))
    assert found is not None
    assert found.severity is Severity.INFO


def test_clipping_with_a_usual_kl_is_none() -> None:
    """constructed: a high clip fraction beside the KL that belongs to it."""
    series = {"clip_fraction": flat(0.5, noise=0.1), "approx_kl": flat(2e-3, noise=0.1), "return/train": flat()}
    assert clip_fraction_without_kl.check(scene(series=series)) is None


# The rule kl-drifts-up.


def test_kl_that_grows_beyond_the_clip_before_a_fall_is_an_alarm() -> None:
    found = kl_drifts_up.check(fault("growing_lr_ppo_cartpole"))
    assert found is not None
    assert found.onset_step is not None


def test_kl_that_grows_within_the_clip_or_beside_a_rise_is_none() -> None:
    """constructed: a Gaussian policy that narrows as it learns."""
    within = {"approx_kl": np.geomspace(0.002, 0.02, 60), "return/train": FELL}
    assert kl_drifts_up.check(scene(series=within, config={"clip_range": 0.2})) is None
    beside = {"approx_kl": np.geomspace(0.004, 0.15, 60), "return/train": rising()}
    assert kl_drifts_up.check(scene(series=beside, config={"clip_range": 0.2})) is None


def test_updates_that_leave_the_clip_as_a_rule_are_an_alarm_where_the_run_does_badly() -> None:
    found = kl_too_large.check(fault("jumping_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "times what a clip range of 0.2 should allow" in found.summary


def test_the_same_updates_are_fine_where_the_task_is_solved() -> None:
    assert kl_too_large.check(fault("fast_lr_ppo_cartpole")) is None


def test_a_policy_that_died_before_the_first_row_did_move() -> None:
    dead = fault("dead_at_once_ppo_cartpole")
    assert kl_vanishes.check(dead) is None
    assert clip_fraction_zero.check(dead) is None
    found = policy_died_early.check(dead)
    assert found is not None
    assert "the first updates left a dead policy" in found.summary


def test_the_number_of_minibatches_is_read_or_left_open() -> None:
    known = {"n_steps": 128.0, "n_envs": 8.0}
    assert batch(scene(config=known)) is None
    assert batch(scene(config={**known, "n_minibatches": 4.0})) == 256.0
    assert batch(scene(config=known, algorithm="A2C")) == 1024.0
