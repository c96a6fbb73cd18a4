"""What is told about a run that departs from the well-known task of its name."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.facts.goal import goal_of, goal_reached, known_task
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_departure import MOST_REPEATED, TaskDeparture, departure, most_repeated
from rlclinic.model.finding import Severity
from rlclinic.rules.environment import episodes_of_other_length
from tests.rules.scene import POINTS, fault, scene

RNG = np.random.default_rng(3)
LENGTHS = np.linspace(20.0, 60.0, POINTS) + RNG.normal(0.0, 2.0, POINTS)
PENDULUM = np.full(POINTS, 200.0)
COSTS = -1230.0 + RNG.normal(0.0, 20.0, POINTS)
PLAIN = {"normalize_reward": False}


def run(environment: str, returns: object, lengths: object, **more: object) -> RunFacts:
    return scene(environment=environment, series={"return/train": returns, "episode_length": lengths}, **more)  # type: ignore[arg-type]


def told(facts: RunFacts) -> TaskDeparture:
    found = departure(facts)
    assert found is not None
    return found


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 0.1, 100.0, 1e6])
def test_the_factor_of_a_reward_that_pays_for_each_step_is_found_and_scales_the_goal(factor: float) -> None:
    facts = run("CartPole-v1", factor * LENGTHS, LENGTHS, config=PLAIN)
    found, goal = told(facts), goal_of(facts)
    assert goal is not None
    assert found.scale == pytest.approx(factor, rel=1e-3)
    assert goal.level == pytest.approx(475 * factor, rel=1e-3)
    assert "scaled by" in goal.origin


def test_repeated_actions_are_no_scale() -> None:
    facts = run("MountainCar-v0", -4.0 * LENGTHS, LENGTHS, config={"frame_skip": 4})
    found = told(facts)
    assert found.scale is None
    assert known_task(facts) is None


def test_a_small_reward_may_be_normalised_where_no_config_says_otherwise() -> None:
    found = told(run("CartPole-v1", 0.05 * LENGTHS, LENGTHS))
    assert found.scale is None
    also = told(run("CartPole-v1", 0.05 * LENGTHS, LENGTHS, config={"normalize_reward": True}))
    assert also.scale is None


@pytest.mark.parametrize("factor", [1e-6, 1e3])
def test_level_and_scatter_tell_the_factor_of_a_reward_that_varies(factor: float) -> None:
    episodes = (factor * (-1230.0 + RNG.normal(0.0, 290.0, 200)), np.full(200, 200.0))
    facts = scene(environment="Pendulum-v1", episodes=episodes, config=PLAIN, series={"return/train": factor * COSTS})
    found = told(facts)
    assert found.scale == pytest.approx(factor, rel=0.2)


def test_a_policy_that_began_trained_is_on_the_scale_of_its_task() -> None:
    episodes = (np.full(200, 11_000.0) + RNG.normal(0.0, 300.0, 200), np.full(200, 1000.0))
    facts = scene(environment="HalfCheetah-v4", episodes=episodes, series={"return/train": np.full(POINTS, 11_000.0)})
    found = told(facts)
    assert found.factor is None


@pytest.mark.parametrize(
    ("environment", "returns", "lengths"),
    [("CartPole-v1", -LENGTHS, LENGTHS), ("Pendulum-v1", -COSTS, PENDULUM), ("MountainCar-v0", 4.0 * LENGTHS, LENGTHS)],
)
def test_the_other_sign_in_the_amount_of_the_task_is_found(environment: str, returns: object, lengths: object) -> None:
    episodes = (np.repeat(returns, 3), np.repeat(lengths, 3))  # type: ignore[arg-type]
    facts = scene(environment=environment, episodes=episodes, series={"return/train": returns})  # type: ignore[arg-type,dict-item]
    found = told(facts)
    assert found.is_negated
    assert goal_of(facts) is None


def test_noise_of_single_rewards_is_measured_in_units_of_their_pay() -> None:
    lengths = np.full(400, 25.0) + RNG.integers(-5, 5, 400)
    returns = lengths + 8.0 * np.sqrt(lengths) * RNG.normal(0.0, 1.0, 400)
    found = told(scene(environment="CartPole-v1", episodes=(returns, lengths), series={"return/train": returns}))
    assert found.noise == pytest.approx(8.0, rel=0.15)
    plain = told(fault("solved_ppo_cartpole"))
    assert plain.noise == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(
    ("environment", "pay", "length", "is_pinned"),
    [
        ("Acrobot-v1", -1.0, 6.0, True),
        ("Pendulum-v1", -6.0, 20.0, True),
        ("CartPole-v1", 1.0, 200.0, True),
        ("CartPole-v1", 1.0, 500.0, False),
        ("Pendulum-v1", -6.0, 200.0, False),
        ("MountainCarContinuous-v0", -0.1, 250.0, False),
    ],
)
def test_one_length_counts_only_where_neither_limit_nor_repeated_actions_make_it(
    environment: str, pay: float, length: float, *, is_pinned: bool
) -> None:
    lengths = np.full(POINTS, length)
    found = told(run(environment, pay * lengths + RNG.normal(0.0, 0.01, POINTS), lengths))
    assert (found.pinned == length) is is_pinned


def test_a_goal_that_cut_short_episodes_reach_untrained_is_none() -> None:
    six = np.full(POINTS, 6.0)
    assert goal_of(run("Acrobot-v1", -six, six, threshold=-130.0)) is None


def test_a_constant_pay_on_a_task_that_pays_at_its_end_is_told() -> None:
    found = told(run("FrozenLake-v1", LENGTHS, LENGTHS))
    assert found.same_pay == pytest.approx(1.0)
    nothing = told(fault("zero_reward_ppo_cartpole"))
    assert nothing.same_pay == 0.0


def test_the_untrained_policy_tells_whether_repeated_actions_make_a_length() -> None:
    learned = np.linspace(-1230.0, -150.0, POINTS)
    assert told(run("Pendulum-v1", learned, PENDULUM / 4)).pinned is None
    assert told(run("Pendulum-v1", learned / 4, PENDULUM / 4)).pinned == 50.0


def test_one_length_is_a_note_in_a_run_that_learned() -> None:
    levels = np.concatenate([np.linspace(-300.0, -40.0, POINTS // 2), np.full(POINTS - POINTS // 2, -40.0)])
    for returns, severity in (
        (levels, Severity.INFO),
        (np.full(POINTS, -300.0) + COSTS - COSTS.mean(), Severity.WARNING),
    ):
        result = episodes_of_other_length.check(run("Pendulum-v1", returns, PENDULUM / 4))
        assert result is not None
        assert result.severity is severity


def test_actions_may_be_repeated_where_neither_config_nor_pay_says_otherwise() -> None:
    flat = np.full(POINTS, -30.0) + RNG.normal(0.0, 1.0, POINTS)
    assert most_repeated(run("MountainCarContinuous-v0", flat, np.full(POINTS, 212.0))) == MOST_REPEATED
    assert most_repeated(run("MountainCarContinuous-v0", flat, LENGTHS, config={"frame_skip": 4})) == 4
    assert most_repeated(run("MountainCarContinuous-v0", flat, LENGTHS, config=PLAIN)) == 1
    assert most_repeated(run("CartPole-v1", LENGTHS, LENGTHS)) == 1


@pytest.mark.parametrize("length", [100.0, 6.0])
def test_a_task_without_a_limit_is_given_one_by_who_trains_on_it(length: float) -> None:
    """CliffWalking has no limit, random actions last 7,000 steps, and the shortest path takes 13."""
    returns = -length - 99.0 * np.random.default_rng(0).integers(0, 20, POINTS)
    found = told(run("CliffWalking-v1", returns, np.full(POINTS, length)))
    assert found.cut_short is (length < 13.0)


@pytest.mark.parametrize(
    ("environment", "end", "length"),
    [("Reacher-v5", -0.1, 50.0), ("Taxi-v3", 190.0, 200.0), ("LunarLander-v3", 2000.0, 1000.0)],
)
def test_a_return_that_no_policy_earns_is_paid_for_something_else(environment: str, end: float, length: float) -> None:
    lengths = np.full(POINTS, length) + np.where(np.arange(POINTS) % 2, -0.5, 0.0)
    facts = run(environment, np.linspace(-14.0, end, POINTS) + RNG.normal(0.0, 0.1, POINTS), lengths)
    assert told(facts).beyond == pytest.approx(end, rel=0.1, abs=1.0)


@pytest.mark.parametrize(
    ("environment", "end", "length"),
    [("Reacher-v5", -4.0, 50.0), ("Taxi-v3", 7.9, 13.0), ("CartPole-v1", 1000.0, 1000.0), ("HalfCheetah-v5", 1e4, 1e3)],
)
def test_what_good_policies_earn_or_longer_episodes_pay_is_not_beyond_the_task(
    environment: str, end: float, length: float
) -> None:
    facts = run(environment, np.linspace(-14.0, end, POINTS), np.full(POINTS, length))
    assert told(facts).beyond is None


def test_a_task_that_costs_nearly_one_a_step_does_not_pay_for_each_step() -> None:
    found = told(run("Reacher-v5", -43.0 + RNG.normal(0.0, 3.0, POINTS), np.full(POINTS, 50.0)))
    assert (found.noise, found.factor) == (None, None)
    tiny = told(run("Reacher-v5", -0.004 + RNG.normal(0.0, 0.0004, POINTS), np.full(POINTS, 50.0), config=PLAIN))
    assert tiny.scale == pytest.approx(1e-4, rel=0.3)


def test_no_goal_is_reached_by_episodes_that_end_before_it_and_a_rise_does_not_change_that() -> None:
    returns, lengths = np.linspace(-118.0, -9.0, POINTS), np.full(POINTS, 6.0)
    facts = run("CliffWalking-v1", returns, lengths, threshold=-20.0)
    assert told(facts).cut_before_goal
    assert goal_of(facts) is None


def test_the_tolerance_of_a_goal_is_no_share_of_what_random_actions_lose() -> None:
    returns = -930.0 + RNG.normal(0.0, 30.0, POINTS)
    facts = run("CliffWalking-v1", returns, np.full(POINTS, 100.0), threshold=-20.0)
    reached = goal_reached(facts)
    assert reached is None or not reached.held


@pytest.mark.parametrize(
    ("environment", "first", "last", "length"),
    [("Hopper-v5", -18.0, 2.6, 24.0), ("Taxi-v3", 940.0, 1920.0, 200.0)],
)
def test_untrained_episodes_of_usual_length_that_earn_the_opposite_tell_a_flipped_reward(
    environment: str, first: float, last: float, length: float
) -> None:
    returns = np.concatenate([np.full(POINTS // 4, first), np.linspace(first, last, POINTS - POINTS // 4)])
    assert told(run(environment, returns, np.full(POINTS, length))).is_negated


@pytest.mark.parametrize(
    ("environment", "first", "length"),
    [("Hopper-v5", 18.0, 24.0), ("Hopper-v5", -18.0, 300.0), ("LunarLander-v3", 180.0, 92.0), ("Taxi-v3", 7.0, 200.0)],
)
def test_a_policy_that_began_trained_or_may_have_does_not(environment: str, first: float, length: float) -> None:
    returns = first + RNG.normal(0.0, 1.0, POINTS)
    assert not told(run(environment, returns, np.full(POINTS, length))).is_negated


@pytest.mark.parametrize(("level", "beyond"), [(-15_000.0, True), (-700.0, False)])
def test_a_cost_that_no_actions_make_is_not_one_of_actions_at_their_bounds(level: float, *, beyond: bool) -> None:
    returns = level + RNG.normal(0.0, 20.0, POINTS)
    found = told(run("HalfCheetah-v5", returns, np.full(POINTS, 1000.0)))
    assert found.below is not None
    assert found.costs_beyond_actions is beyond
