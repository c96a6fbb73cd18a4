"""Rules about the environment: how episodes end, what they pay, how hard the task is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.environment import (
    bimodal_returns,
    component_dominates,
    difficulty_raised,
    ending_at_once_pays,
    episodes_hit_the_limit,
    no_episode_ends,
    observation_never_changes,
    one_choice_is_paid_by_itself,
    random_return_of_moving_policy,
    return_is_length,
    return_scale_huge,
    reward_always_zero,
    reward_is_about_the_action,
    reward_is_the_same_for_all,
    reward_rarely_seen,
    rewards_cut_at_a_bound,
    shorter_episodes_pay,
    very_short_episodes,
)
from rlclinic.rules.measured import beyond_chance
from rlclinic.rules.rule import RuleResult
from tests.rules.scene import flat, line, recorded, scene

POINTS = np.arange(60)


def _mountain_car(steps: float, returns: float = -200.0) -> RunFacts:
    return scene(
        environment="MountainCar-v0",
        series={"return/train": np.full(60, returns), "episode_length": np.full(60, 200.0)},
        steps=steps,
        episodes=(np.full(300, returns), np.full(300, 200.0)),
    )


def test_episodes_at_the_limit_of_a_goal_task_are_an_alarm_after_long_training() -> None:
    """constructed: recorded MountainCar runs are too short for an alarm, and published budgets are 300k steps."""
    found = episodes_hit_the_limit.check(_mountain_car(400_000))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "limit of 200 steps" in found.summary
    assert found.evidence[0].value == 200.0


def test_episodes_at_the_limit_are_a_note_early_in_the_run() -> None:
    found = episodes_hit_the_limit.check(recorded("faults/sparse_ppo_mountaincar"))
    assert found is not None
    assert found.severity is Severity.INFO


def test_episodes_at_the_limit_are_success_where_surviving_is_the_task() -> None:
    facts = recorded("faults/solved_ppo_cartpole")
    length = facts.late("episode_length")
    assert length is not None
    assert length.value == 500
    assert episodes_hit_the_limit.check(facts) is None


def test_pendulum_ends_at_its_limit_by_design() -> None:
    assert episodes_hit_the_limit.check(recorded("sb3/ppo_pendulum")) is None


def test_episodes_of_a_few_steps_from_the_start_are_an_alarm() -> None:
    """constructed: a termination that fires at once."""
    facts = scene(series={"return/train": line(2.0, 2.0, seed=1), "episode_length": line(3.0, 3.0, seed=2)})
    found = very_short_episodes.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING


def test_episodes_far_shorter_than_under_random_actions_are_an_alarm() -> None:
    """constructed: the case of tight_limit_ppo_cartpole, with a policy that stays random."""
    facts = scene(
        environment="CartPole-v1",
        series={
            "return/train": line(8.0, 8.0, seed=1),
            "episode_length": line(8.0, 8.0, seed=1),
            "entropy": line(0.69, 0.4),
        },
        config={"n_actions": 2},
    )
    found = very_short_episodes.check(facts)
    assert found is not None
    assert "random actions last 22.2" in found.summary


def test_a_policy_destroyed_by_its_first_updates_is_no_early_termination() -> None:
    facts = recorded("faults/high_lr_a2c_cartpole")
    length = facts.early("episode_length")
    assert length is not None
    assert length.value < 10
    assert very_short_episodes.check(facts) is None


def test_a_policy_that_collapsed_later_is_no_early_termination() -> None:
    assert very_short_episodes.check(recorded("faults/high_lr_ppo_cartpole")) is None


def test_short_episodes_that_pay_ever_more_are_success() -> None:
    """constructed: a target that is reached within three steps."""
    facts = scene(
        series={"return/train": line(0.3, 0.99), "episode_length": line(4.0, 3.0)},
    )
    assert very_short_episodes.check(facts) is None


def test_a_missing_monitor_is_seen() -> None:
    found = no_episode_ends.check(recorded("sb3/ppo_cartpole_no_monitor"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "no return was logged" in found.summary


def test_an_environment_that_never_ends_an_episode_is_seen() -> None:
    found = no_episode_ends.check(recorded("faults/never_ends_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_returns_that_stay_undefined_mean_that_no_episode_ends() -> None:
    """constructed: a logger that writes a row without episodes."""
    facts = scene(
        series={"return/train": np.full(40, np.nan), "value_loss": np.ones(40), "episodes": np.zeros(40)},
    )
    found = no_episode_ends.check(facts)
    assert found is not None
    assert "undefined" in found.summary


def test_a_return_that_falls_silent_is_seen() -> None:
    """constructed: an environment that stops ending half way."""
    facts = scene(
        series={"return/train": line(1.0, 5.0, 40), "policy_loss": np.ones(100)},
        details={"return/train": {"steps": np.linspace(1_000, 40_000, 40)}},
    )
    found = no_episode_ends.check(facts)
    assert found is not None
    assert found.onset_step == 40_000


def test_evaluations_that_go_on_show_that_episodes_still_end() -> None:
    """constructed: the console with the training return was cut, evaluations and losses go on."""
    steps, early = np.linspace(1_000.0, 100_000.0, 60), np.linspace(1_000.0, 40_000.0, 24)
    trained = Series("return/train", "rollout/ep_rew_mean", early, np.linspace(20.0, 80.0, 24), known=True)
    loss = Series("value_loss", "train/value_loss", steps, np.linspace(5.0, 1.0, 60), known=True)
    evaluated = Series("return/eval", "eval/mean_reward", steps, np.linspace(20.0, 200.0, 60), known=True)
    series = {"return/train": trained, "value_loss": loss}
    assert no_episode_ends.check(scene(series=series)) is not None
    assert no_episode_ends.check(scene(series={**series, "return/eval": evaluated})) is None


def test_missing_returns_are_normal_in_the_first_steps() -> None:
    """constructed: a short stretch of a task with long episodes."""
    facts = scene(
        environment="LunarLander-v3", series={"value_loss": np.ones(20), "policy_loss": np.ones(20)}, steps=4_000
    )
    assert no_episode_ends.check(facts) is None


def test_supervised_runs_have_no_episodes_to_miss() -> None:
    assert no_episode_ends.check(recorded("verl/supervised_not_rl")) is None


def test_a_reward_that_is_always_zero_is_an_alarm() -> None:
    found = reward_always_zero.check(recorded("faults/zero_reward_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_zero_returns_are_a_note_early_in_the_run() -> None:
    """constructed: the first tenth of a sparse task."""
    facts = scene(series={"return/train": np.zeros(30)}, steps=10_000, budget=200_000)
    found = reward_always_zero.check(facts)
    assert found is not None
    assert found.severity is Severity.INFO


def test_one_reward_is_enough_to_be_seen() -> None:
    """constructed: a single success in a run of zeros."""
    assert reward_always_zero.check(scene(series={"return/train": np.where(POINTS == 50, 0.01, 0.0)})) is None


def test_nearly_all_returns_at_the_floor_are_an_alarm() -> None:
    """constructed: recorded runs on sparse tasks are too short for an alarm."""
    returns = np.where(np.arange(400) % 50 == 0, 1.0, 0.0)
    facts = scene(series={"return/train": returns}, episodes=(returns, np.full(400, 50.0)))
    found = reward_rarely_seen.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "only 8 of 400" in found.summary


def test_a_floor_that_never_varied_is_known_from_the_task() -> None:
    """constructed: recorded MountainCar runs are too short for an alarm."""
    found = reward_rarely_seen.check(_mountain_car(400_000))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_a_constant_return_above_the_floor_is_not_called_rare() -> None:
    assert reward_rarely_seen.check(recorded("faults/constant_reward_ppo_cartpole")) is None


def test_a_sparse_task_is_given_time() -> None:
    found = reward_rarely_seen.check(recorded("faults/sparse_ppo_mountaincar"))
    assert found is not None
    assert found.severity is Severity.INFO


def test_a_reward_seen_in_one_episode_of_five_is_not_rare() -> None:
    """constructed: flat, but far from empty."""
    returns = np.where(np.arange(400) % 5 == 0, 1.0, 0.0)
    facts = scene(series={"return/train": returns}, episodes=(returns, np.full(400, 50.0)))
    assert reward_rarely_seen.check(facts) is None


def test_a_solved_run_has_equal_returns_at_its_ceiling() -> None:
    assert reward_rarely_seen.check(recorded("faults/solved_ppo_cartpole")) is None


def test_values_beyond_the_reach_of_the_critic_are_an_alarm() -> None:
    """Pendulum with raw rewards: the critic explains nothing and the return does not rise."""
    found = return_scale_huge.check(RunFacts(replace(recorded("torchrl/ppo_pendulum_tb").run, environment="")))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value > 500


def test_rewards_of_ten_thousand_per_step_are_an_alarm() -> None:
    found = return_scale_huge.check(recorded("faults/large_reward_ppo_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value > 1e5


def test_large_returns_that_the_critic_explains_are_fine() -> None:
    facts = recorded("sb3/ppo_pendulum")
    explained = facts.late("explained_variance")
    assert explained is not None
    assert explained.value > 0.9
    assert return_scale_huge.check(facts) is None


def test_large_returns_within_the_reach_of_the_critic_are_fine() -> None:
    """constructed: a critic that explains nothing for another reason than scale."""
    facts = scene(
        series={
            "return/train": line(-400.0, -400.0, noise=0.1),
            "episode_length": np.full(60, 200.0),
            "explained_variance": line(0.0, 0.0) + 0.01,
        },
        config={"learning_rate": 3e-3, "gamma": 0.99, "n_steps": 128, "n_envs": 8, "batch_size": 64, "n_epochs": 10},
    )
    assert return_scale_huge.check(facts) is None


def test_a_reward_for_every_step_is_noted() -> None:
    found = return_is_length.check(RunFacts(replace(recorded("sb3/a2c_cartpole").run, environment="")))
    assert found is not None
    assert found.severity is Severity.INFO
    assert found.evidence[1].value == pytest.approx(1.0, rel=1e-3)


def test_a_well_known_survival_task_needs_no_note() -> None:
    assert return_is_length.check(recorded("sb3/ppo_cartpole")) is None


def test_return_and_length_that_rise_together_are_not_the_same() -> None:
    """constructed: two courses with their own noise."""
    facts = scene(
        series={"return/train": line(10.0, 300.0, noise=0.1), "episode_length": line(20.0, 200.0, noise=0.1, seed=5)}
    )
    assert return_is_length.check(facts) is None


def test_ending_early_on_a_survival_task_while_the_return_rises_is_an_alarm() -> None:
    """constructed: a changed reward that makes falling pay."""
    facts = scene(
        environment="Hopper-v4",
        series={"return/train": line(10.0, 60.0), "episode_length": line(100.0, 12.0)},
    )
    found = shorter_episodes_pay.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING


def test_episodes_shorter_than_chance_that_pay_ever_more_are_an_alarm() -> None:
    """constructed: the case of step_cost_ppo_cartpole without noise."""
    lengths = line(22.0, 9.4)
    found = shorter_episodes_pay.check(
        scene(environment="CartPole-v1", series={"return/train": -lengths, "episode_length": lengths})
    )
    assert found is not None
    assert found.severity is Severity.WARNING


def test_short_episodes_without_success_are_an_alarm() -> None:
    """constructed: an agent that crashes to save the cost of steps."""
    facts = scene(
        series={
            "return/train": line(-300.0, -40.0),
            "episode_length": line(200.0, 20.0),
            "success_rate": np.abs(line(0.02, 0.01, noise=0.3)),
        }
    )
    found = shorter_episodes_pay.check(facts)
    assert found is not None
    assert "success rate" in found.summary


def test_reaching_the_goal_sooner_is_success() -> None:
    assert shorter_episodes_pay.check(recorded("hydra/ppo_acrobot")) is None


def test_shorter_episodes_that_pay_less_are_a_collapse() -> None:
    """constructed: length and return fall together."""
    facts = scene(series={"return/train": line(100.0, 8.0), "episode_length": line(100.0, 8.0)})
    assert shorter_episodes_pay.check(facts) is None


HILL = np.concatenate([np.linspace(20, 200, 20), np.linspace(200, 40, 20), np.full(20, 40.0)])


def test_a_level_that_rises_explains_a_fall() -> None:
    """constructed: no recorded run logs the level of its curriculum."""
    facts = scene(
        series={"return/train": HILL, "episode_length": 5 * HILL, "curriculum/level": np.where(POINTS < 19, 0.0, 3.0)}
    )
    found = difficulty_raised.check(facts)
    assert found is not None
    assert found.severity is Severity.INFO
    assert found.confidence == 0.8


def test_a_run_named_after_its_curriculum_explains_a_fall() -> None:
    """constructed: no recorded run logs the level of its curriculum."""
    curves = {"return/train": HILL, "episode_length": 5 * HILL}
    found = difficulty_raised.check(scene(name="ppo_curriculum", series=curves))
    assert found is not None
    assert found.confidence < 0.8
    assert difficulty_raised.check(scene(name="ppo", series=curves)) is None


def test_a_collapse_at_constant_difficulty_is_not_explained_away() -> None:
    assert difficulty_raised.check(recorded("sb3/ppo_cartpole_high_lr")) is None


def test_a_dominating_component_of_a_learning_run_is_a_note() -> None:
    found = component_dominates.check(recorded("rsl_rl/cartpole"))
    assert found is not None
    assert found.severity is Severity.INFO
    assert "alive" in found.summary


def test_a_penalty_that_is_the_whole_reward_of_a_flat_run_is_an_alarm() -> None:
    """constructed: no recorded run is held down by a penalty."""
    facts = scene(
        series={
            "return/train": line(-50.0, -50.0, noise=0.05),
            "reward/energy": line(-50.0, -50.0, noise=0.05),
            "reward/goal": np.abs(line(0.2, 0.2, noise=0.1)),
        }
    )
    found = component_dominates.check(facts)
    assert found is not None
    assert found.severity is Severity.WARNING


def test_components_of_similar_size_are_fine() -> None:
    """constructed: two parts of one size."""
    facts = scene(series={"reward/a": line(1.0, 5.0), "reward/b": line(1.0, 4.0, seed=3)})
    assert component_dominates.check(facts) is None


def _two_groups(spread: float) -> RunFacts:
    random = np.random.default_rng(0)
    returns = np.where(random.random(600) < 0.4, 20.0, 200.0) + random.normal(0, spread, 600)
    return scene(series={"return/train": returns}, episodes=(returns, np.full(600, 100.0)))


def test_returns_in_two_groups_are_noted() -> None:
    """constructed: two groups with some spread."""
    found = bimodal_returns.check(_two_groups(10.0))
    assert found is not None
    assert found.severity is Severity.INFO
    assert "about 20" in found.summary


def test_two_groups_that_run_into_each_other_are_not_noted() -> None:
    """constructed: the same groups with more spread."""
    assert bimodal_returns.check(_two_groups(70.0)) is None


def test_a_jump_within_the_window_is_no_pair_of_groups() -> None:
    """constructed: the better group comes later."""
    returns = np.where(np.arange(600) < 500, 20.0, 200.0) + np.random.default_rng(1).normal(0, 5, 600)
    facts = scene(series={"return/train": returns}, episodes=(returns, np.full(600, 100.0)))
    assert bimodal_returns.check(facts) is None


def test_what_one_of_many_checks_shows_by_chance_is_a_note() -> None:
    result = RuleResult(Severity.ERROR, 0.9, "a leak", (), chance=0.002)
    sure = RuleResult(Severity.ERROR, 0.9, "a dead action", (), chance=1e-6)
    exact = RuleResult(Severity.ERROR, 0.9, "an exception", ())
    assert beyond_chance({"A": result}, 1)["A"].severity is Severity.ERROR
    found = beyond_chance({"A": result, "B": sure, "C": exact}, 34)
    assert [found[code].severity for code in "ABC"] == [Severity.INFO, Severity.ERROR, Severity.ERROR]


def test_greedy_actions_that_earn_what_random_ones_do_have_no_effect() -> None:
    """constructed: no recorded Q-learner was trained where its actions do nothing."""
    series = {"return/train": line(-774.0, -770.0), "epsilon": line(1.0, 0.05, noise=0.0)}
    found = random_return_of_moving_policy.check(scene(algorithm="DQN", environment="Taxi-v3", series=series))
    assert found is not None
    assert "epsilon went from" in found.summary
    for other in ({**series, "epsilon": flat(1.0, noise=0.0)}, {**series, "return/train": line(-774.0, -250.0)}):
        assert random_return_of_moving_policy.check(scene(algorithm="DQN", environment="Taxi-v3", series=other)) is None


def test_a_small_pay_that_lures_is_no_exploit_where_a_policy_earned_more_without_it() -> None:
    reward = {"pay_of_action": [0.2, -0.01], "pay_by_itself": 0.98}
    lures = {
        "name": "always 0",
        "episodes": 6,
        "mean": 1.0,
        "low": 1.0,
        "high": 1.0,
        "std": 0.0,
        "length": 5,
        "best": 1,
    }
    far = {**lures, "name": "always 1", "mean": 10.0, "low": 9.0, "high": 11.0}
    assert one_choice_is_paid_by_itself.check(scene(measured={"reward": reward, "panel": [lures, far]})) is None
    assert one_choice_is_paid_by_itself.check(scene(measured={"reward": reward, "panel": [lures]})) is not None


def test_ends_that_are_no_success_pay_although_episodes_are_long() -> None:
    ends = {
        "terminated": 150, "truncated": 0, "count": 150, "length_correlation": -0.95, "mean_length": 90.0,
        "longest": 100, "limit": None, "unended": 0,
    }  # fmt: skip
    measured = {"reward": {"high": -1.0}, "panel": []}
    failing = scene(measured={**measured, "episodes": {**ends, "success_rate": 0.0}})
    assert ending_at_once_pays.check(failing) is not None
    assert ending_at_once_pays.check(scene(measured={**measured, "episodes": {**ends, "success_rate": 0.9}})) is None


def test_one_cost_that_drowns_what_is_paid_is_told() -> None:
    def part(name: str, mean: float, share: float) -> dict[str, object]:
        return {"name": name, "mean": mean, "std": 1.0, "share": share, "constant": False}

    def found(cost: float) -> RuleResult | None:
        parts = [part("sales", 5.0, 0.02), part("storing", cost, 0.98)]
        return reward_is_about_the_action.check(
            scene(measured={"reward": {"components": parts, "components_sum": True, "by_action": 0.1}})
        )

    assert "storing costs 80 times" in getattr(found(-400.0), "summary", "")
    assert found(-10.0) is None


def test_the_sign_of_the_terms_is_a_clipped_reward() -> None:
    found = rewards_cut_at_a_bound.check(scene(measured={"reward": {"cut_sum": "only the sign", "at_edge": 0.0}}))
    assert found is not None
    assert found.summary == "the reward is only the sign of the sum of the terms that `info` tells"


def test_few_different_rewards_that_no_action_changes_carry_no_signal() -> None:
    reward = {"distinct": 9, "nonzero": 0.9, "effect_lag": None, "std": 1.0}
    assert reward_is_the_same_for_all.check(scene(measured={"reward": {**reward, "usual": 0.2}})) is not None
    assert reward_is_the_same_for_all.check(scene(measured={"reward": {**reward, "usual": 0.9}})) is None
    noisy = {**reward, "usual": 0.2, "noise_share": 0.9}
    assert reward_is_the_same_for_all.check(scene(measured={"reward": noisy})) is None


def test_a_cost_of_every_step_whose_end_nobody_reached_is_a_note() -> None:
    measured = {"reward": {"std": 0.0, "high": -1.0}}
    ends = {"distinct_returns": 1, "shortest": 60, "longest": 60, "new_places": 0.0, "terminated": 0}
    unreached = reward_is_the_same_for_all.check(scene(measured={**measured, "episodes": ends}))
    reached = reward_is_the_same_for_all.check(scene(measured={**measured, "episodes": {**ends, "terminated": 9}}))
    assert unreached is not None
    assert reached is not None
    assert (unreached.severity, reached.severity) == (Severity.INFO, Severity.ERROR)


def test_a_picture_that_never_changes_is_dead_only_where_no_action_shows_in_it() -> None:
    seen = {"kind": "image", "names": ["a", "b"], "constant": [0, 1], "zero": [0, 1], "action_lag": None}
    action = {"effects": [{"name": "0", "observation": 0.0, "reward": 1.0, "touched": 1.0}], "states": 16}
    assert observation_never_changes.check(scene(measured={"observation": seen, "action": action})) is not None
    moves = {**seen, "action_lag": 0}
    assert observation_never_changes.check(scene(measured={"observation": moves, "action": action})) is None


def test_few_dead_numbers_are_a_note_where_the_past_foretells_no_more() -> None:
    names = [f"[{at}]" for at in range(30)]
    seen = {"names": names, "constant": [0], "zero": [0], "explained": 0.6, "explained_by_past": 0.5}
    few = observation_never_changes.check(scene(measured={"observation": seen}))
    more = observation_never_changes.check(scene(measured={"observation": {**seen, "explained_by_past": 0.9}}))
    assert few is not None
    assert more is not None
    assert (few.severity, more.severity) == (Severity.INFO, Severity.WARNING)
