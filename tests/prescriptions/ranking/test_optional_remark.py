"""Healthy runs are left alone, or get one remark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlclinic.facts.goal_status import GoalStatus
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Priority
from tests.prescriptions.made import PPO, advised, made_run

RUN = made_run({**PPO, "learning_rate": 0.05, "n_epochs": 40})


@pytest.mark.parametrize(
    ("verdict", "shares"),
    [
        (Verdict.SOLVED, {"already-solved": 0.6, "learning-rate-too-high": 0.3}),
        (Verdict.LEARNING, {"nothing-wrong": 0.7, "learning-rate-too-high": 0.2}),
        (Verdict.NOT_RL, {"learning-rate-too-high": 0.9}),
    ],
)
def test_a_healthy_run_is_left_alone(verdict: Verdict, shares: dict[str, float]) -> None:
    assert advised(RUN, shares, "kl-too-large", verdict=verdict) == ()


def test_a_run_that_still_rises_may_go_on() -> None:
    made, *_ = advised(RUN, {"nothing-wrong": 0.5, "budget-too-small": 0.3}, verdict=Verdict.LEARNING)
    assert made.priority is Priority.LOW
    assert made.instruction.startswith("Optional")
    assert made.changes == ()


def test_a_plateau_without_a_goal_is_to_be_looked_at() -> None:
    causes = {"nothing-wrong": 0.5, "learning-rate-too-high": 0.2}
    (made,) = advised(RUN, causes, "kl-too-large", verdict=Verdict.PLATEAUED)
    assert made.instruction.startswith("Optional: watch three episodes")
    assert made.changes == ()


def test_a_goal_that_the_whole_budget_missed_is_no_option_but_urgent() -> None:
    run = made_run(PPO, series={"return/train": [float(value) for value in range(20, 60)]})
    status = GoalStatus(missed=True, fell_short=True, budget_used=True)
    causes = {"budget-too-small": 0.9}
    made, *_ = advised(replace(run, threshold=475.0), causes, verdict=Verdict.LEARNING, status=status)
    assert made.instruction.startswith("Raise total_timesteps")
    assert made.priority is Priority.HIGH
