"""What is said of a run that is still going."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.lasting import lasting
from rlclinic.engine import diagnose
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.outlook import Advice, Outlook, Trajectory
from rlclinic.model.run import Run, Status
from rlclinic.model.series import FloatArray
from rlclinic.outlook import outlook_of
from rlclinic.readers.open import read
from tests.comparison.builders import run as made
from tests.comparison.builders import shortened
from tests.conftest import RUNS

# Runs that learn, or had no time to.
HEALTHY = (
    "sb3/ppo_cartpole",
    "sb3/ppo_cartpole_vec4",
    "sb3/dqn_cartpole",
    "sb3/a2c_cartpole",
    "sb3/sac_pendulum",
    "sb3/td3_pendulum",
    "rsl_rl/cartpole",
    "faults/solved_ppo_cartpole",
    "faults/rising_ppo_cartpole",
    "faults/unusual_ppo_cartpole",
    "faults/healthy_a2c_cartpole",
    "faults/healthy_dqn_cartpole",
    "faults/healthy_ppo_acrobot",
    "faults/healthy_sac_pendulum",
)
WRONG_RATE = Cause("learning-rate-too-high", "policy-too-fast", "root", "", 0.9)


def rising(start: float, end: float) -> FloatArray:
    noise = 0.02 * (end - start) * np.random.default_rng(0).standard_normal(60)
    return np.asarray(np.linspace(start, end, 60) + noise)


def flat(level: float) -> FloatArray:
    return np.asarray(level * (1.0 + 0.02 * np.random.default_rng(0).standard_normal(60)))


def going(returns: FloatArray, **fields: object) -> Run:
    """A running run of 100,000 steps with half its budget left."""
    values: dict[str, object] = {"budget": 200_000.0, "threshold": 475.0, **fields}
    return replace(made("going", returns, state=Status.RUNNING), **values)  # type: ignore[arg-type]


def outlook(run: Run, verdict: Verdict = Verdict.LEARNING, *causes: Cause) -> Outlook:
    found = outlook_of(RunFacts(run), verdict, causes)
    assert found is not None
    return found


@pytest.mark.parametrize("state", [state for state in Status if state is not Status.RUNNING])
def test_a_run_that_has_ended_has_no_outlook(state: Status) -> None:
    run = made("ended", rising(20, 200), state=state)
    assert outlook_of(RunFacts(run), Verdict.LEARNING, ()) is None


@pytest.mark.parametrize(
    ("policy", "value", "advice"),
    [(10, 12, Advice.RESTART), (10, 0, Advice.CONTINUE), (2, 2, Advice.CONTINUE)],
)
def test_a_run_whose_losses_are_all_no_numbers_is_lost_whatever_the_cause(
    policy: int, value: int, advice: Advice
) -> None:
    run = going(rising(20, 300))
    kept = run.returns
    assert kept is not None
    losses = {}
    for name, bad in (("policy_loss", policy), ("value_loss", value)):
        values = flat(1.0)
        values[len(values) - bad :] = np.nan
        losses[name] = replace(kept, name=name, logged_as=name, values=values)
    found = outlook(replace(run, series={**run.series, **losses}))
    assert found.advice is advice
    assert (f"no loss has been a number since step {kept.steps[-10]:,.0f}" in found.reason) == (
        advice is Advice.RESTART
    )


@pytest.mark.parametrize("budget", [200_000.0, 400_000.0])
def test_a_run_that_cannot_learn_as_configured_is_not_told_to_go_on(budget: float) -> None:
    slow = Cause("learning-rate-too-low", "policy-frozen", "root", "", 0.99)
    found = outlook(going(flat(22.0), budget=budget), Verdict.NOT_LEARNING, slow)
    assert found.expectation is not None
    assert found.expectation.probability <= 0.05
    assert found.advice is Advice.RESTART
    assert "the steps stay as small as they are" in found.reason


@pytest.mark.parametrize("causes", [(), (replace(WRONG_RATE, probability=0.3),)])
def test_a_run_that_is_misconfigured_is_not_waited_for_whatever_its_cause(causes: tuple[Cause, ...]) -> None:
    found = outlook(going(flat(22.0), budget=None, threshold=None), Verdict.MISCONFIGURED, *causes)
    assert found.advice is Advice.RESTART


def test_a_low_chance_early_on_is_said_to_be_early() -> None:
    found = outlook(going(flat(22.0), budget=400_000.0), Verdict.NOT_LEARNING)
    assert found.advice is Advice.CONTINUE
    assert "too early to give the run up" in found.reason


def test_a_steady_climb_is_expected_to_arrive_and_goes_on() -> None:
    found = outlook(going(rising(20, 300)))
    assert found.trajectory is Trajectory.RISING
    assert found.advice is Advice.CONTINUE
    assert found.expectation is not None
    assert found.expectation.probability > 0.6
    assert found.expectation.step is not None
    assert 100_000 < found.expectation.step < 200_000
    assert found.progress == pytest.approx(0.5)


def test_a_flat_return_with_most_of_the_budget_gone_is_stopped() -> None:
    found = outlook(going(flat(20), budget=130_000), Verdict.NOT_LEARNING)
    assert found.trajectory is Trajectory.FLAT
    assert found.advice is Advice.STOP
    assert "chance of the goal" in found.reason


def test_the_same_return_early_in_its_budget_is_waited_for() -> None:
    run = going(flat(20), budget=400_000)
    assert outlook(run, Verdict.NOT_LEARNING).advice is Advice.CONTINUE


def test_a_target_that_is_held_needs_no_further_steps_but_is_still_no_result() -> None:
    values = np.concatenate([np.linspace(20, 495, 30), np.full(40, 495.0)])
    found = outlook(going(values), Verdict.SOLVED)
    assert found.advice is Advice.STOP
    assert "holds so far" in found.reason


def test_a_target_that_only_the_table_of_tasks_names_never_stops_a_run() -> None:
    values = np.concatenate([np.linspace(20, 495, 30), np.full(40, 495.0)])
    found = outlook(going(values, threshold=None, environment="CartPole-v1"), Verdict.SOLVED)
    assert found.advice is Advice.CONTINUE
    assert "holds so far; stop it where that is all you want" in found.reason


def collapsed() -> Run:
    return going(np.concatenate([np.linspace(20, 120, 30), np.full(30, 9.0)]))


def test_a_collapse_by_a_setting_that_stays_is_restarted() -> None:
    found = outlook(collapsed(), Verdict.COLLAPSED, WRONG_RATE)
    assert found.trajectory is Trajectory.FALLING
    assert found.advice is Advice.RESTART
    assert "learning-rate-too-high (90%) does not go away by itself" in found.reason


@pytest.mark.parametrize(
    "cause",
    [
        Cause("learning-rate-too-high", "policy-too-fast", "root", "", 0.6),
        Cause("seed-variance", "budget", "root", "", 0.95),
        Cause("sparse-reward", "no-signal", "root", "", 0.95),
        Cause("unknown", "unknown", "none", "", 0.95),
    ],
    ids=lambda cause: f"{cause.id}-{cause.probability}",
)
def test_a_doubtful_cause_or_one_that_may_pass_never_restarts_a_run(cause: Cause) -> None:
    assert outlook(collapsed(), Verdict.COLLAPSED, cause).advice is Advice.CONTINUE


def test_a_certain_cause_that_stays_is_not_waited_for() -> None:
    slow, unsure = (Cause("trust-region-too-strong", "policy-frozen", "root", "", share) for share in (0.97, 0.9))
    early = going(flat(20.0), budget=1_000_000.0, threshold=None, environment="MountainCar-v0", algorithm="PPO")
    assert outlook(early, Verdict.NOT_LEARNING, slow).advice is Advice.RESTART
    assert outlook(early, Verdict.NOT_LEARNING, unsure).advice is Advice.CONTINUE


@pytest.mark.parametrize(
    "name", ["faults/greedy_dqn_cartpole", "faults/weak_cql_cartpole", "faults/bootstrapped_end_dqn_cartpole"]
)
def test_a_recorded_run_whose_cause_stays_is_restarted_half_way(name: str) -> None:
    found = diagnose(shortened(read(RUNS / name), 0.5)).outlook
    assert found is not None
    assert found.advice is Advice.RESTART


def test_a_rising_run_is_never_restarted_whatever_its_config() -> None:
    run = going(rising(20, 300))
    assert outlook(run, Verdict.LEARNING, WRONG_RATE).advice is Advice.CONTINUE


def test_without_a_budget_or_target_nothing_is_forecast_and_that_is_said() -> None:
    found = outlook(going(flat(20), budget=None, threshold=None))
    assert found.expectation is None
    assert found.advice is Advice.CONTINUE
    assert "the goal and the budget are not known" in found.reason


def test_a_run_without_a_return_is_unclear() -> None:
    run = going(flat(0.5))
    silent = replace(run, series={"entropy": replace(run["return/train"], name="entropy")})
    found = outlook(silent)
    assert found.trajectory is Trajectory.UNCLEAR
    assert "no return" in found.summary


def test_the_time_that_is_left_follows_from_the_speed() -> None:
    timed = made("going", rising(20, 200), state=Status.RUNNING, more={"fps": np.full(60, 500.0)})
    found = outlook(replace(timed, budget=200_000.0))
    assert found.seconds_left == pytest.approx(200.0)


@pytest.mark.parametrize("name", HEALTHY)
def test_no_healthy_recorded_run_would_have_been_stopped_or_restarted_on_its_way(name: str) -> None:
    whole = read(RUNS / name)
    for share in (0.5, 0.9):
        found = diagnose(shortened(whole, share)).outlook
        assert found is not None
        if found.advice is not Advice.CONTINUE:
            assert "holds so far" in found.reason, (share, found)


def test_a_recorded_collapse_is_restarted_long_before_its_end() -> None:
    half = diagnose(shortened(read(RUNS / "faults" / "high_lr_ppo_cartpole"), 0.5))
    assert half.reason.startswith("so far, ")
    assert half.outlook is not None
    assert half.outlook.advice is Advice.RESTART


def test_every_cause_that_lasts_is_a_cause() -> None:
    assert set(lasting()) <= set(catalogue())
    assert {"seed-variance", "budget-too-small", "sparse-reward", "unknown", "nothing-wrong"}.isdisjoint(lasting())
