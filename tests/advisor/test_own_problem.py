"""What is measured on the user's own environment and run agrees with what is known about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from click.testing import CliRunner

from rlclinic.advisor.advise import advice_on
from rlclinic.advisor.measured_environment import with_environment
from rlclinic.advisor.measured_run import measure_run, with_model
from rlclinic.advisor.measurements.effective_horizon import look_ahead
from rlclinic.advisor.measurements.noise_scale import noise_scale_of_groups
from rlclinic.advisor.problem import problem_of
from rlclinic.advisor.shaping import FORMS, play_panel, with_courses
from rlclinic.apps.cli.main import app
from rlclinic.environment.play import play, recorder_of
from rlclinic.environment.shaping import SHAPING, PotentialShaping
from rlclinic.facts.environment.shaping import shaping_facts
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.train import train
from rlclinic.model.environment_facts import EnvironmentFacts, PolicyReturns, SpeedFacts
from rlclinic.model.errors import UsageError
from tests.advisor.sets import made


@pytest.mark.parametrize("size", [1, 4])
def test_the_noise_scale_of_groups_is_that_of_the_gradient_over_their_size(size: int) -> None:
    rng, found = np.random.default_rng(4), []
    gradient = rng.normal(size=40) * 0.5
    spread = np.sqrt(489.0 * float(gradient @ gradient) / 40)
    for _ in range(20):
        groups = gradient + rng.normal(size=(400, 40)) * spread / np.sqrt(size)
        scale = noise_scale_of_groups(groups @ groups.T)
        found.append((scale.low <= 489.0 / size <= scale.high, scale.value))
    assert sum(inside for inside, _ in found) >= 17
    values = [value for _, value in found if value is not None]
    assert np.median(values) == pytest.approx(489.0 / size, rel=0.25)


def test_groups_that_are_all_noise_have_no_upper_end() -> None:
    groups = np.random.default_rng(0).normal(size=(30, 50))
    assert noise_scale_of_groups(groups @ groups.T).high == np.inf


def _raw(**changed: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    lengths = [20] * 30
    returns = [rng.normal(size=20).tolist() for _ in lengths]
    gradients = {
        name: (rows := 1.0 + noise * rng.normal(size=(30, 200))) @ rows.T
        for name, noise in (("policy", 3.0), ("value", 0.5))
    }
    return {
        "algorithm": "PPO", "batch": 64.0, "gamma": 0.99, "lengths": lengths, "returns": returns, "values": returns,
        "rewards": [1.0] * 30, "ended": [True] * 30, "states": [rng.normal(size=(20, 3)).tolist() for _ in lengths],
        "gradients": {name: products.tolist() for name, products in gradients.items()}, "churn": 0.02,
        "units": {"train/opt/dead_units": 0.6, "train/opt/effective_rank": 9.0}, **changed,
    }  # fmt: skip


def test_policy_and_value_have_noise_scales_of_their_own_in_steps() -> None:
    found = with_model(problem_of({}), _raw())
    measured = {item.id: item for item in found.measurements}
    assert measured["noise-policy"].value == pytest.approx(9.0 * 20, rel=0.2)
    assert measured["noise-value"].value == pytest.approx(0.25 * 20, rel=0.2)
    assert found["measured.policy_value_noise"] == pytest.approx(36.0, rel=0.4)
    assert "F08" in {rule.id for rule in advice_on(found, "batch-size").rules}


@pytest.mark.parametrize(("shift", "word"), [(0.0, "not clearly off"), (2.0, "too high"), (-2.0, "too low")])
def test_values_that_are_off_are_told_with_their_direction(shift: float, word: str) -> None:
    raw = _raw()
    noise = np.random.default_rng(2).normal(size=(30, 20)) * 0.1
    raw["values"] = [(np.array(one) + shift + more).tolist() for one, more in zip(raw["returns"], noise, strict=True)]
    found = {item.id: item for item in with_model(problem_of({}), raw).measurements}["values"]
    assert found.reading.startswith(word)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= shift / np.concatenate(raw["returns"]).std() <= found.high


def test_values_beyond_any_possible_return_are_told() -> None:
    raw = _raw(values=[[500.0] * 20] * 30)
    assert with_model(problem_of({}), raw)["measured.q_above_possible"] is True
    assert with_model(problem_of({}), _raw())["measured.q_above_possible"] is False


def test_states_of_a_policy_that_leaves_the_data_are_told_from_them() -> None:
    data, rng = made("Pendulum-v1", "random"), np.random.default_rng(3)
    own = [data.observations[data.episodes == number].tolist() for number in range(10)]
    away = [(np.array(one) + 3.0 * rng.random(3)).tolist() for one in own]
    near, far = (with_model(problem_of({}), _raw(states=states), data)["measured.shift_auc"] for states in (own, away))
    assert isinstance(near, float)
    assert isinstance(far, float)
    assert near < 0.65 < 0.8 < far


def _examined(*panel: PolicyReturns) -> EnvironmentFacts:
    return EnvironmentFacts("examined", "Own-v0", 4000, speed=SpeedFacts(500.0, 0.01, 0.1), panel=panel)


def _level(name: str, mean: float) -> PolicyReturns:
    return PolicyReturns(name, 10, mean, mean - 1, mean + 1, 2.0, 50.0, mean + 2)


def test_simple_policies_that_fail_do_not_say_that_nothing_can_be_learned() -> None:
    alike = with_environment(problem_of({}), _examined(_level("random", 5.0), _level("always 0", 5.0)))
    assert alike["measured.gap_in_errors"] is None
    oracle = with_environment(problem_of({}), _examined(_level("random", 5.0), _level("oracle", 5.0)))
    assert "A09" in {rule.id for rule in advice_on(oracle).rules}


def test_a_forecast_follows_the_speed_and_costs_what_the_hour_costs() -> None:
    problem = problem_of({"task.action": "box", "budget.hour_cost": 3})
    slow, fast = (
        with_environment(problem, EnvironmentFacts("examined", "Own-v0", 100, speed=SpeedFacts(speed, 0.0, 0.0)))
        for speed in (20.0, 2000.0)
    )
    hours = [dict(found.measurements[0].bars) for found in (slow, fast)]
    assert all(hours[0][name] > hours[1][name] for name in ("SAC", "TD3", "PPO"))
    assert "in money" in slow.measurements[0].reading
    assert slow["env.steps_per_s"] == 20.0


def test_greedy_over_random_balances_a_pole_and_an_action_shows_late() -> None:
    found = look_ahead("CartPole-v1", 1.0)
    assert found is not None
    assert found.total > 60 or not found.over
    assert found.actions == 2
    # Another push changes when the pole falls, some steps on, and nothing before.
    assert len(found.lags) >= 8
    assert np.median(found.lags) > 5


def test_the_wrapper_is_potential_based_by_the_test_of_examine() -> None:
    space = None
    for gamma in (0.95, 0.99):
        env = PotentialShaping(gymnasium.make("MountainCar-v0"), 0, gamma, scale=9.0)
        record, space = recorder_of(env), env.action_space
        for seed in range(12):
            space.seed(seed)
            play(env, lambda _, drawn=space: drawn.sample(), record, seed=seed, end=float("inf"))
        found = shaping_facts(record.transitions())
        assert found is not None
        assert found.component == SHAPING
        assert found.residual < 0.05
        assert found.gamma == pytest.approx(gamma)


def test_the_panel_proves_the_potential_and_games_the_other_forms() -> None:
    courses = play_panel("MountainCar-v0", "0", 0.99, 3.0)
    found = with_courses(problem_of({}), courses, "0", 0.99)
    measured = {item.id: item for item in found.measurements}
    assert (measured["potential"].value or 0.0) < 1e-9
    assert all((measured[form].value or 0.0) > 0 for form in FORMS)
    assert found["reward.shaping"] == "potential"
    assert "PotentialShaping(env" in advice_on(found, "reward").next_steps[0]


def test_a_term_that_is_no_potential_is_not_called_one() -> None:
    course = play_panel("MountainCar-v0", "0", 0.99, 0.1)[0]
    wrong = type(course)(course.policy, course.rewards, tuple(abs(x) for x in course.shaping), course.potentials)
    found = with_courses(problem_of({}), [wrong, course], "0", 0.99)
    assert "is no difference of a potential" in found.measurements[0].reading
    assert found["reward.shaping"] is None


def test_a_progress_variable_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="no number 7"):
        play_panel("MountainCar-v0", "7", 0.99, 0.1)
    asked = CliRunner().invoke(app, ["advise", "reward", "--progress", "0"])
    assert isinstance(asked.exception, UsageError) or asked.exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "environment"), [("PPO", "CartPole-v1"), ("DQN", "CartPole-v1"), ("SAC", "Pendulum-v1")]
)
def test_a_model_of_every_family_is_looked_into(algorithm: str, environment: str, tmp_path: Path) -> None:
    settings = {"n_steps": 128, "batch_size": 64} if algorithm == "PPO" else {"learning_starts": 100}
    run = train(Recipe("sb3", algorithm, environment, 600, settings), tmp_path)
    measured = {item.id: item.value for item in measure_run(problem_of({}), run).measurements}
    assert measured["values"] is not None
    assert measured["churn"] is not None
    assert ("noise-policy" in measured) is (algorithm == "PPO")
