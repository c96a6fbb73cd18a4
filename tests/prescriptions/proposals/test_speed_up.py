"""What is advised where a goal was missed and no fault explains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from rlclinic.facts.goal_status import GoalStatus
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Prescription
from rlclinic.model.run import Run
from rlclinic.prescriptions.prescribe import prescribe
from rlclinic.trials import propose
from tests.prescriptions.made import DQN, PPO, SAC, changed_keys, found, made_run, suspected

SHORT = GoalStatus(budget_used=True, fell_short=True, missed=True)
RISES = {"budget-too-small": 0.7, "unknown": 0.1}
ELSEWHERE = "MyRobot-v0"


def run_of(native: Mapping[str, object], kl: float | None = None, algorithm: str = "PPO") -> Run:
    series: dict[str, Sequence[float]] = {"return/train": np.linspace(20, 200, 40).tolist()}
    if kl is not None:
        series["approx_kl"] = [kl] * 40
    made = made_run(native, algorithm=algorithm, environment=ELSEWHERE, series=series)
    return replace(made, threshold=400.0, threshold_is_told=True)


def advised(
    run: Run,
    *rules: str,
    status: GoalStatus = SHORT,
    shares: Mapping[str, float] = RISES,
    verdict: Verdict = Verdict.LEARNING,
    others: Sequence[Run] = (),
) -> tuple[Prescription, ...]:
    signs = found(*rules)
    return prescribe(RunFacts(run), verdict, signs, suspected(shares, signs), status=status, others=others)


def test_small_updates_are_made_larger_and_the_reason_is_their_kl() -> None:
    made, *_ = advised(run_of(PPO, kl=1e-4))
    assert changed_keys([made]) == {"learning_rate": (3e-4, 9e-4)}
    assert propose.testable(made)
    assert "The goal of 400 was missed with the whole budget" in made.rationale
    assert "KL of 0.0001" in made.rationale
    assert "%" not in made.rationale
    assert made.risk


def test_updates_without_room_are_left_as_they_are_and_the_budget_grows() -> None:
    assert set(changed_keys(advised(run_of(PPO, kl=0.004)))) == {"total_steps"}


def test_a_step_never_passes_the_kl_of_a_healthy_update() -> None:
    made, *_ = advised(run_of(PPO, kl=0.02 / 9 - 1e-6))
    before, after = changed_keys([made])["learning_rate"]
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert (after / before) ** 2 * 0.02 / 9 <= 0.02 * (1 + 1e-9)


@pytest.mark.parametrize("status", [GoalStatus(budget_used=True), GoalStatus(done=True), GoalStatus()])
def test_nothing_is_sped_up_in_a_run_that_fell_short_of_nothing(status: GoalStatus) -> None:
    assert changed_keys(advised(run_of(PPO, kl=1e-4), status=status)) == {}


@pytest.mark.parametrize("rule", ["kl-too-large", "clip-fraction-high", "entropy-fell-early"])
def test_nothing_is_sped_up_that_is_too_fast_already(rule: str) -> None:
    assert "learning_rate" not in changed_keys(advised(run_of(PPO, kl=1e-4), rule))


def test_a_single_step_per_rollout_has_no_kl_to_go_by() -> None:
    assert set(changed_keys(advised(run_of(PPO, kl=0.0)))) == {"total_steps"}


def test_few_updates_in_a_budget_become_more() -> None:
    run = run_of({**PPO, "n_epochs": 1, "batch_size": 1024}, kl=0.0)
    keys = changed_keys(advised(run, "few-updates-in-budget", shares={"nothing-wrong": 0.6, "budget-too-small": 0.2}))
    assert list(keys) == ["batch_size", "n_epochs", "total_steps"]


@pytest.mark.parametrize(("native", "algorithm"), [(SAC, "SAC"), (DQN, "DQN")])
def test_off_policy_each_sample_is_used_more_often(native: Mapping[str, object], algorithm: str) -> None:
    run = run_of({"train_freq": 4, "gradient_steps": 2, **native}, algorithm=algorithm)
    made, *_ = advised(run)
    assert changed_keys([made]) == {"train_freq": (4, 2)}
    assert "gradient steps per env step" in made.rationale


def test_samples_that_are_used_often_already_are_not_used_more() -> None:
    made = advised(run_of({**SAC, "train_freq": 1, "gradient_steps": 4}, algorithm="SAC"))
    assert set(changed_keys(made)) == {"total_steps"}


def test_values_that_run_away_are_not_fed_more_updates() -> None:
    assert "train_freq" not in changed_keys(advised(run_of(DQN, algorithm="DQN"), "q-values-diverge"))


def test_what_can_be_tried_in_the_same_budget_comes_before_a_longer_one() -> None:
    shares = {"unknown": 0.32, "budget-too-small": 0.3}
    test, faster, longer = advised(run_of(PPO, kl=1e-4), shares=shares)
    assert test.changes == ()
    assert list(changed_keys([faster, longer])) == ["learning_rate", "total_steps"]
    assert faster.instruction.startswith("If that does not suffice, and each update moves"), "the test is of the budget"


def test_a_change_for_a_fault_goes_without_it() -> None:
    shares = {"discount-too-low": 0.8}
    run = run_of({**PPO, "gamma": 0.5}, kl=1e-4)
    assert set(changed_keys(advised(run, shares=shares, verdict=Verdict.PLATEAUED))) == {"gamma"}


def test_a_step_that_failed_before_gives_way_to_the_next() -> None:
    tried = made_run(
        {**PPO, "learning_rate": 9e-4},
        environment=ELSEWHERE,
        series={"return/train": np.linspace(20, 150, 40).tolist()},
    )
    keys = changed_keys(advised(run_of(PPO, kl=1e-4), others=[tried]))
    assert keys
    assert "learning_rate" not in keys


def test_what_never_moved_is_not_sped_up_while_a_setting_that_explains_it_can_be_turned_back() -> None:
    made = made_run(
        {**PPO, "clip_range": 0.05},
        environment=ELSEWHERE,
        series={"return/train": [-500.0] * 40, "approx_kl": [1e-6] * 40},
    )
    run = replace(made, threshold=-100.0, threshold_is_told=True)
    shares = {"sparse-reward": 0.8, "clip-range-too-tight": 0.11}
    _, change, *_ = advised(run, "return-exactly-constant", shares=shares, verdict=Verdict.NOT_LEARNING)
    assert list(changed_keys([change])) == ["clip_range"]
    _, faster, *_ = advised(run, "return-exactly-constant", shares={"sparse-reward": 0.8}, verdict=Verdict.NOT_LEARNING)
    assert list(changed_keys([faster])) == ["learning_rate"]
