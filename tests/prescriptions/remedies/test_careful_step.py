"""How far one step goes."""

from __future__ import annotations

import pytest

from rlclinic.prescriptions.remedies.careful_step import stepped
from tests.prescriptions.made import DQN, PPO, assessment_of, made_run

ELSEWHERE = "MyRobot-v0"


def step(key: str, value: float, *, up: bool, environment: str = ELSEWHERE, native: str = "") -> float | None:
    run = made_run({**PPO, native or key: value}, environment=environment)
    return stepped(assessment_of(run, {}), key, up=up)


@pytest.mark.parametrize(
    ("key", "value", "direction", "wanted"),
    [
        ("learning_rate", 6e-4, "down", 2e-4),
        ("learning_rate", 1e-4, "up", 3e-4),
        ("ent_coef", 0.003, "up", 0.009),
        ("n_epochs", 10, "down", 5),
        ("batch_size", 64, "up", 128),
        ("gamma", 0.98, "up", 0.9933),
        ("gamma", 0.99, "down", 0.97),
    ],
)
def test_a_step_is_a_factor_of_three_or_two(key: str, value: float, direction: str, wanted: float) -> None:
    assert step(key, value, up=direction == "up") == pytest.approx(wanted, rel=2e-3)


def test_a_step_ends_at_what_works_for_this_environment() -> None:
    assert step("learning_rate", 2e-3, up=False, environment="CartPole-v1") == 1e-3


def test_a_step_does_not_reach_beyond_a_factor_of_three_when_the_entry_is_two_steps_away() -> None:
    assert step("learning_rate", 8e-3, up=False, environment="CartPole-v1") == 2.7e-3


def test_a_value_far_off_goes_to_the_entry_at_once() -> None:
    assert step("learning_rate", 0.1, up=False, environment="CartPole-v1") == 1e-3
    assert step("learning_rate", 1e-6, up=True, environment="CartPole-v1") == 1e-3


@pytest.mark.parametrize(
    ("key", "value", "direction", "wanted"),
    [
        ("learning_rate", 0.1, "down", 2.5e-4),
        ("learning_rate", 1e-6, "up", 2.5e-4),
        ("ent_coef", 3.0, "down", 0.0),
        ("gamma", 0.5, "up", 0.99),
    ],
)
def test_a_value_far_off_without_an_entry_goes_to_the_usual_one(
    key: str, value: float, direction: str, wanted: float
) -> None:
    assert step(key, value, up=direction == "up") == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("rate", "kl", "direction", "wanted"),
    [(1e-5, 2e-6, "up", 1e-3), (1e-5, 2e-4, "up", 1e-4), (0.03, 0.2, "down", 1e-3), (0.03, 200.0, "down", 3e-4)],
)
def test_the_kl_of_the_updates_tells_how_far_a_rate_is_off(
    rate: float, kl: float, direction: str, wanted: float
) -> None:
    """The KL of small steps grows with the square of the rate; 0.02 nats are wanted, within what works elsewhere."""
    run = made_run({**PPO, "learning_rate": rate}, environment=ELSEWHERE, series={"approx_kl": [kl] * 40})
    assert stepped(assessment_of(run, {}), "learning_rate", up=direction == "up") == pytest.approx(wanted)


def test_no_horizon_reaches_beyond_an_episode() -> None:
    run = made_run({**PPO, "gamma": 0.4}, environment=ELSEWHERE, series={"episode_length": [40.0] * 40})
    assert stepped(assessment_of(run, {}), "gamma", up=True) == pytest.approx(0.975)


def test_an_entry_is_taken_as_it_is_whatever_the_budget() -> None:
    after = [
        stepped(assessment_of(made_run({**PPO, "learning_rate": 0.05, "total_timesteps": steps}, algorithm="A2C"), {}),
                "learning_rate", up=False)
        for steps in (40_000, 400_000)
    ]  # fmt: skip
    assert after == [pytest.approx(7e-4), pytest.approx(7e-4)]


def test_the_kl_of_a_destroyed_policy_does_not_lead_below_the_usual_rate() -> None:
    run = made_run(
        {**PPO, "learning_rate": 0.5, "total_timesteps": 24_000},
        environment=ELSEWHERE,
        series={"approx_kl": [1e7] * 40},
    )
    assert stepped(assessment_of(run, {}), "learning_rate", up=False) == pytest.approx(2.5e-4)


def test_a_value_past_the_far_edge_of_working_configs_is_not_moved_further_away() -> None:
    assert step("learning_rate", 1e-7, up=False) is None
    assert step("learning_rate", 0.5, up=True) is None


def test_zero_has_no_step_down_and_a_small_one_up() -> None:
    assert step("ent_coef", 0.0, up=False) is None
    assert step("ent_coef", 0.0, up=True) == 0.01


def test_counts_stay_whole() -> None:
    run = made_run({**DQN, "target_update_interval": 75}, algorithm="DQN", environment=ELSEWHERE)
    after = stepped(assessment_of(run, {}), "target_update_interval", up=False)
    assert isinstance(after, int)


@pytest.mark.parametrize(
    ("framework", "key", "wanted"), [("sb3", "n_epochs", 10), ("skrl", "n_epochs", 8), ("sb3", "learning_rate", 3e-4)]
)
def test_a_step_down_from_an_unknown_value_never_leads_above_the_default(
    framework: str, key: str, wanted: float
) -> None:
    run = made_run({}, framework_id=framework)
    assert stepped(assessment_of(run, {}), key, up=False) == wanted
