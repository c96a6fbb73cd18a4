"""One word for a run: recorded runs get the one that fits, and the order of verdicts is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.facts.return_state import constant_at_its_worst
from rlclinic.facts.run_facts import RunFacts
from rlclinic.judgement.verdict import verdict
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import RunStatus, Status
from rlclinic.rules.registry import RULES, examine
from tests.rules.scene import flat, recorded, rising, scene

# What the verdict takes from the course of the return and the process; the other families are given by hand.
OWN = tuple(row for row in RULES if row.family in {"success", "convergence", "evaluation", "process"})

EXPECTED = {
    "edge/aborted_start": "insufficient-data",
    "verl/supervised_not_rl": "not-rl",
    "verl/out_of_memory": "crashed",
    "sb3/ppo_cartpole_env_crash": "crashed",
    "gymnasium_solver/runs/local-20260115-102500": "crashed",
    "gymnasium_solver/runs/local-20260115-104500": "interrupted",
    "search_r1/grpo": "interrupted",
    "sb3/ppo_cartpole_no_monitor": "insufficient-data",
    "sb3/sac_pendulum": "insufficient-data",
    "sb3/ppo_pendulum": "insufficient-data",
    "d3rlpy/cql_cartpole_offline/d3rlpy_logs/*": "insufficient-data",
    "faults/solved_ppo_cartpole": "solved",
    "trackio/frozenlake.db": "solved",
    "verl/grpo_v0.4": "solved",
    "sb3/ppo_cartpole_high_lr": "collapsed",
    "faults/high_lr_ppo_cartpole": "collapsed",
    "faults/low_lr_ppo_cartpole": "not-learning",
    "faults/late_start_dqn_cartpole": "not-learning",
    "faults/zero_reward_ppo_cartpole": "not-learning",
    "wandb/finished/wandb/*": "plateaued",
    "faults/rising_ppo_cartpole": "learning",
    "sb3/a2c_cartpole": "learning",
    "sb3/dqn_cartpole": "learning",
    "cleanrl/ppo_cartpole/runs/*": "learning",
    "hydra/ppo_acrobot/outputs/*/*": "learning",
    "rllib/ppo_cartpole/PPO_*": "learning",
    "trl/grpo_tiny": "learning",
}


def judged(facts: RunFacts, *given: Finding) -> tuple[Verdict, str]:
    """The verdict from the own findings of the return and some given ones."""
    return verdict(facts, (*examine(facts, OWN)[0], *given))


def finding(code: str, severity: Severity) -> Finding:
    """A finding of another family."""
    name = next(rule.name for rule in RULES if rule.code == code)
    return Finding(code, "title", "family", severity, 0.9, f"{code} was seen", name=name)


@pytest.mark.parametrize(("best", "word"), [(18.5, "not-learning"), (60.0, "collapsed")])
def test_a_run_that_fell_below_random_play_lost_only_what_it_had_won(best: float, word: str) -> None:
    """constructed: CartPole from 17, a little or a lot better, then the shortest episodes there are."""
    course = np.concatenate([np.linspace(17, best, 10), np.linspace(best, 9.5, 40), np.full(50, 9.5)])
    facts = scene(series={"return/train": course + 0.05 * np.sin(np.arange(100))}, environment="CartPole-v1")
    assert judged(facts)[0].value == word


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_run_gets_the_verdict_that_fits(name: str) -> None:
    word, reason = judged(recorded(name))
    assert word.value == EXPECTED[name]
    assert "\n" not in reason


def test_the_reason_gives_the_numbers() -> None:
    assert "ended at 500" in judged(recorded("faults/solved_ppo_cartpole"))[1]
    assert "climbed from 25.58 to 87.31 and ended at 9.377" in judged(recorded("sb3/ppo_cartpole_high_lr"))[1]
    assert "published runs needed 70,000" in judged(recorded("sb3/ppo_pendulum"))[1]
    assert "6% of the budget" in judged(recorded("search_r1/grpo"))[1]


def test_large_swings_and_regressions_make_a_run_unstable() -> None:
    """constructed: losses of a known size."""
    lost = np.concatenate([rising(20, 200, 30), np.linspace(200, 110, 30)])
    assert judged(scene(series={"return/train": lost}))[0] is Verdict.UNSTABLE


def test_a_config_that_cannot_learn_comes_before_the_lack_of_learning() -> None:
    facts = recorded("faults/late_start_dqn_cartpole")
    assert judged(facts, finding("OFF07", Severity.ERROR)) == (Verdict.MISCONFIGURED, "OFF07 was seen")
    assert judged(facts, finding("OFF07", Severity.WARNING))[0] is Verdict.NOT_LEARNING


def test_a_config_that_learned_all_the_same_is_not_called_unable() -> None:
    word, _ = judged(recorded("sb3/a2c_cartpole"), finding("CFG02", Severity.ERROR))
    assert word is Verdict.LEARNING


def test_a_hacked_reward_is_no_success() -> None:
    word, _ = judged(recorded("verl/grpo_v0.4"), finding("LMR01", Severity.WARNING))
    assert word is Verdict.REWARD_HACKING


def test_a_crash_does_not_matter_once_the_task_is_solved() -> None:
    solved = recorded("faults/solved_ppo_cartpole").run
    crashed = replace(solved, status=RunStatus(Status.CRASHED, "the tracker lost its heartbeat"))
    assert judged(RunFacts(crashed))[0] is Verdict.SOLVED
    early = replace(recorded("faults/rising_ppo_cartpole").run, status=crashed.status, budget=1e6)
    assert judged(RunFacts(early))[0] is Verdict.CRASHED


def test_a_registered_threshold_far_below_the_best_is_no_end() -> None:
    """constructed: HalfCheetah's threshold is 4800, published runs reach 12,000."""
    values = np.concatenate([np.linspace(-280, 8000, 40), np.linspace(8000, 8800, 20)])
    task = {"environment": "HalfCheetah-v4", "algorithm": "SAC", "steps": 600_000}
    assert judged(scene(series={"return/train": values}, **task))[0] is not Verdict.SOLVED
    own = scene(series={"return/train": values}, threshold=4800.0, **task)
    assert judged(own)[0] is Verdict.SOLVED
    assert judged(scene(series={"return/train": values * 1.25}, **task))[0] is Verdict.SOLVED


def test_a_stopped_run_with_an_unknown_budget_is_judged_by_its_course() -> None:
    """constructed: a language model's run that a hang-up ended after many updates."""
    values = np.concatenate([rising(0.2, 0.7, 20), flat(0.7, 26)])
    run = scene(series={"return/train": values}, status=Status.INTERRUPTED, axis="updates", algorithm="GRPO").run
    assert judged(RunFacts(run))[0] is Verdict.PLATEAUED
    long = {"steps": 40_000, "budget": 100_000.0, "status": Status.INTERRUPTED}
    assert judged(scene(series={"return/train": rising(0.2, 0.7, 20)}, **long))[0] is Verdict.LEARNING
    assert judged(scene(series={"return/train": flat(0.2, 20)}, **long))[0] is Verdict.INTERRUPTED
    short = scene(series={"return/train": rising(0.2, 0.3, 10)}, status=Status.INTERRUPTED, algorithm="GRPO").run
    assert judged(RunFacts(short))[0] is Verdict.INTERRUPTED


def test_a_return_that_never_left_zero_is_a_failure_however_few_points_say_so() -> None:
    """constructed: ten episodes without a single reward."""
    assert judged(scene(series={"return/train": np.zeros(10)}))[0] is Verdict.NOT_LEARNING


def test_the_same_round_cost_each_time_is_a_failure_and_an_odd_one_may_be_anything() -> None:
    """constructed: no lengths were logged, but -200 is what each step costs until the time limit."""
    assert constant_at_its_worst(scene(series={"return/train": np.full(10, -200.0)}))
    assert not constant_at_its_worst(scene(series={"return/train": np.full(10, -0.37)}))


def test_a_few_levels_that_cannot_have_risen_are_enough() -> None:
    """constructed: seven means over a hundred episodes each."""
    down = np.array([-2148.0, -2044.0, -2320.0, -2302.0, -2151.0, -2485.0, -2376.0])
    running = {"status": Status.UNKNOWN, "steps": 2_700_000}
    assert judged(scene(series={"return/train": down}, **running))[0] is Verdict.NOT_LEARNING
    assert judged(scene(series={"return/train": down[::-1].copy()}, **running))[0] is not Verdict.NOT_LEARNING


def test_a_sure_rise_of_two_percent_is_not_called_learning_without_a_goal() -> None:
    """constructed: a rise that is more than noise and worth nothing."""
    values = np.linspace(-500.0, -488.0, 60) + 3.0 * np.sin(np.arange(60.0) * 2.1)
    assert judged(scene(series={"return/train": values}))[0] is not Verdict.LEARNING
    assert judged(scene(series={"return/train": values}, threshold=-480.0))[0] is Verdict.LEARNING


def test_a_game_without_published_steps_needs_as_many_as_the_easiest() -> None:
    """constructed: flat returns of a game whose entry has no steps."""
    task = {"environment": "MsPacman-v5", "status": Status.UNKNOWN, "series": {"return/train": flat(400.0, 60)}}
    assert judged(scene(steps=8_000, **task))[0] is Verdict.INSUFFICIENT_DATA
    assert judged(scene(steps=2_000_000, **task))[0] is Verdict.NOT_LEARNING


@pytest.mark.parametrize("points", [1, 3, 4])
def test_a_handful_of_points_is_too_little(points: int) -> None:
    """constructed: stopped within the first moments."""
    word, reason = judged(scene(series={"return/train": rising(points=points)}))
    assert word is Verdict.INSUFFICIENT_DATA
    assert "point" in reason


def test_five_points_are_enough_for_a_rise_that_is_sure_and_for_nothing_else() -> None:
    """constructed: five evaluations that rise evenly, and five that scatter."""
    assert judged(scene(series={"return/train": rising(points=5)}))[0] is Verdict.LEARNING
    scattered = np.array([20.0, 90.0, 30.0, 120.0, 60.0])
    assert judged(scene(series={"return/train": scattered}))[0] is Verdict.INSUFFICIENT_DATA


def test_evaluations_that_rose_outweigh_a_mean_that_lags_behind() -> None:
    """constructed: a training return that says nothing beside evaluations that rose to the end."""
    noise = np.random.default_rng(2).standard_normal(60)
    series = {"return/train": -70.0 + 10.0 * noise, "return/eval": np.linspace(-100.0, -10.0, 12)}
    word, reason = judged(scene(series=series))
    assert word is Verdict.LEARNING
    assert "return/eval rose from" in reason


def test_a_decline_of_a_policy_that_began_at_random_lost_nothing() -> None:
    """constructed: CartPole from 22 down to 9, and the same of a task whose random policy nobody knows."""
    values = np.linspace(22.0, 9.4, 200) + 0.8 * np.random.default_rng(0).standard_normal(200)
    word, reason = judged(scene(series={"return/train": values}, environment="CartPole-v1"))
    assert word is Verdict.NOT_LEARNING
    assert "ended at 9" in reason
    assert judged(scene(series={"return/train": values}))[0] in {Verdict.COLLAPSED, Verdict.UNSTABLE}


def test_every_verdict_is_reached_by_some_test_here() -> None:
    named = {"unstable", "misconfigured", "reward-hacking", "no-fault-found"}
    assert named | set(EXPECTED.values()) == {word.value for word in Verdict}


@pytest.mark.parametrize(
    ("last", "budget", "word"),
    [
        (480.0, 200_000.0, Verdict.SOLVED),
        (460.0, 200_000.0, Verdict.LEARNING),
        (480.0, 100_000.0, Verdict.LEARNING),
    ],
)
def test_a_run_that_stopped_at_its_own_threshold_is_solved_although_the_training_mean_lags(
    last: float, budget: float, word: Verdict
) -> None:
    facts = scene(
        series={"return/train": rising(20.0, 150.0), "return/eval": [30.0, 60.0, 120.0, 240.0, 320.0, last]},
        budget=budget,
        threshold=475.0,
    )
    assert verdict(facts, examine(facts, OWN)[0])[0] is word


def test_without_a_climb_there_is_no_plateau() -> None:
    """constructed: noise about one level, which began a little above where it ended."""
    values = 100.0 + 20.0 * np.random.default_rng(3).standard_normal(120)
    facts = scene(series={"return/train": np.sort(values[:20])[::-1].tolist() + values[20:].tolist()})
    assert judged(facts)[0] in {Verdict.NOT_LEARNING, Verdict.UNSTABLE}


def test_a_decline_from_the_first_step_on_is_no_lack_of_progress() -> None:
    """constructed: half of the first level is gone before a fifth of the run is over."""
    values = 10.0 + 30.0 * np.exp(-np.linspace(0.0, 12.0, 100)) + 0.3 * np.random.default_rng(1).standard_normal(100)
    word, reason = judged(scene(series={"return/eval": values}, algorithm="DQN", steps=2_000.0))
    assert word in {Verdict.COLLAPSED, Verdict.UNSTABLE}
    assert "began at" in reason


def test_a_sure_fall_over_the_last_third_is_no_plateau() -> None:
    """constructed: a third of the climb is lost, steadily, up to the end."""
    values = np.concatenate([rising(0.0, 100.0, 60), np.linspace(100.0, 67.0, 40)])
    assert judged(scene(series={"return/train": values}))[0] is Verdict.UNSTABLE


def test_a_milestone_that_is_passed_is_no_end_while_the_return_rises() -> None:
    """constructed: three quarters of the best published return, and still rising."""
    values = np.concatenate([np.linspace(-280, 7000, 30), np.linspace(7000, 9600, 30)])
    task = {"environment": "HalfCheetah-v4", "algorithm": "SAC", "steps": 600_000}
    assert judged(scene(series={"return/eval": values}, **task))[0] is Verdict.LEARNING


def test_a_rise_without_a_sure_line_is_not_learning() -> None:
    noisy, again = [-26.0, -6.0, -33.0, -8.0, -7.0, -7.1], [-7.0, -6.0, -12.0, -0.4, -3.0, -30.0]
    still = [-3.6488] * 5
    told, reason = judged(scene(series={"return/train": np.array([*noisy, *still, *again, *still])}))
    assert told is Verdict.INSUFFICIENT_DATA
    assert "noise" in reason


def test_a_sure_line_through_noisy_episodes_is_a_rise() -> None:
    noise = np.random.default_rng(3).normal(scale=65.0, size=130)
    told, _ = judged(scene(series={"return/train": np.linspace(-40.0, 90.0, 130) + noise}))
    assert told in {Verdict.LEARNING, Verdict.PLATEAUED}


def test_episodes_of_which_many_fail_are_no_share_of_nearly_all() -> None:
    succeeded = (np.random.default_rng(0).random(200) < 0.85).astype(float)
    told, _ = judged(scene(series={"return/train": 0.2 + 0.8 * succeeded, "success_rate": succeeded}))
    assert told is not Verdict.SOLVED


def test_evaluations_that_swing_about_the_goal_do_not_hold_it() -> None:
    swinging, trained = np.where(np.arange(20) % 2 == 0, 300.0, 600.0), rising(100.0, 400.0)
    told, _ = judged(scene(series={"return/eval": swinging, "return/train": trained}, threshold=440.0))
    assert told is not Verdict.SOLVED
    steady = np.append(np.full(19, 500.0), 300.0)
    told, _ = judged(scene(series={"return/eval": steady, "return/train": rising(100.0, 490.0)}, threshold=440.0))
    assert told is Verdict.SOLVED


def test_thousands_of_flat_episodes_are_not_too_few_because_others_took_more_steps() -> None:
    flat_returns = 2.0 + np.random.default_rng(1).normal(size=6113)
    for episodes, expected in ((6113, Verdict.NOT_LEARNING), (600, Verdict.INSUFFICIENT_DATA)):
        played = (flat_returns[:episodes], np.full(episodes, 160.0))
        told, _ = judged(scene(series={"return/train": flat_returns[:episodes]}, episodes=played, algorithm="DQN",
                               environment="BreakoutNoFrameskip-v4", steps=160.0 * episodes))  # fmt: skip
        assert told is expected


def test_nothing_overrules_a_sure_rise() -> None:
    told, _ = judged(scene(series={"return/train": rising()}), finding("POL12", Severity.ERROR))
    assert told is Verdict.LEARNING
