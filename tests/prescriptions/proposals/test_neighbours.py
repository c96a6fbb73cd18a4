"""What other runs of the task tell about the next change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rlclinic.facts.goal_status import GoalStatus
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Change, Prescription
from rlclinic.model.run import Run
from rlclinic.prescriptions.prescribe import prescribe
from rlclinic.prescriptions.proposals.neighbours import Neighbour, neighbours_of, was_passed
from tests.prescriptions.made import PPO, changed_keys, found, made_run, suspected

OPEN = GoalStatus(budget_used=True)
HEALTHY = {"nothing-wrong": 0.7, "budget-too-small": 0.2}


def run_of(end: float, environment: str = "CartPole-v1", **settings: object) -> Run:
    """A run whose return climbs from 20 to an end."""
    return made_run(
        {**PPO, **settings}, environment=environment, series={"return/train": np.linspace(20, end, 40).tolist()}
    )


def advised(run: Run, others: Sequence[Run], shares: dict[str, float] = HEALTHY) -> tuple[Prescription, ...]:
    return prescribe(RunFacts(run), Verdict.LEARNING, (), suspected(shares), status=OPEN, others=others)


def test_a_neighbour_tells_which_way_its_setting_lies_and_how_it_ended() -> None:
    run = run_of(200, learning_rate=1e-3)
    assert neighbours_of(run, [run_of(40, learning_rate=1e-2)]) == (
        Neighbour("learning_rate", True, False, True, 1e-2),
    )
    assert neighbours_of(run, [run_of(400, learning_rate=1e-4)]) == (
        Neighbour("learning_rate", False, True, False, 1e-4),
    )
    assert neighbours_of(run, [run_of(201, learning_rate=1e-2)]) == (
        Neighbour("learning_rate", True, False, False, 1e-2),
    )


def test_a_discount_is_compared_by_its_horizon() -> None:
    (seen,) = neighbours_of(run_of(200, gamma=0.98), [run_of(40, gamma=0.5)])
    assert (seen.up, seen.worse, seen.size) == (False, True, 2.0)


def test_runs_of_another_task_and_runs_that_differ_in_much_tell_nothing() -> None:
    run = run_of(200)
    other_task = run_of(40, "Acrobot-v1", learning_rate=1e-2)
    all_else = run_of(40, learning_rate=1e-2, gamma=0.9, n_epochs=20, ent_coef=0.1)
    seeds = run_of(40, seed=4)
    assert neighbours_of(run, [other_task, all_else, seeds]) == ()


def test_a_direction_that_helped_is_taken_further_while_the_goal_is_far() -> None:
    run = run_of(200, learning_rate=2e-3)
    made, *_ = advised(run, [run_of(40, learning_rate=0.06)])
    assert changed_keys([made]) == {"learning_rate": (2e-3, 1e-3)}
    assert made.instruction.startswith("Optional")
    assert made.rationale.startswith("A run with learning_rate 0.06 ended clearly lower than this one")


def test_without_a_goal_a_run_that_learns_is_left_alone() -> None:
    run, before = (run_of(end, "MyRobot-v0", learning_rate=rate) for end, rate in ((200, 2e-3), (40, 0.06)))
    assert all(not item.changes for item in advised(run, [before]))


def test_what_was_tried_without_success_is_not_advised_again() -> None:
    run, tried = run_of(40, learning_rate=0.06), run_of(40, learning_rate=1e-3)
    shares = {"learning-rate-too-high": 0.5, "too-many-epochs": 0.3}
    signs = found("kl-too-large")
    first = prescribe(RunFacts(run), Verdict.UNSTABLE, signs, suspected(shares, signs))
    again = prescribe(RunFacts(run), Verdict.UNSTABLE, signs, suspected(shares, signs), others=[tried])
    assert "learning_rate" in changed_keys(first)
    assert "learning_rate" not in changed_keys(again)
    assert "n_epochs" in changed_keys(again)


def test_what_helped_is_not_taken_back() -> None:
    run, before = run_of(200, learning_rate=1e-4), run_of(40, learning_rate=1e-6)
    signs = found("kl-too-large")
    shares = {"learning-rate-too-high": 0.5}
    assert (
        changed_keys(prescribe(RunFacts(run), Verdict.UNSTABLE, signs, suspected(shares, signs), others=[before])) == {}
    )


@pytest.mark.parametrize(("after", "passed"), [(3e-4, False), (0.3, True), (0.5, True), (0.9, True)])
def test_a_step_that_stays_short_of_what_failed_elsewhere_is_a_try_of_its_own(after: float, *, passed: bool) -> None:
    far_up = Neighbour("learning_rate", up=True, better=False, worse=True, size=0.4)
    assert was_passed([Change("learning_rate", "learning_rate", 2e-5, after)], [far_up]) is passed


def test_a_step_that_way_is_open_where_it_helped() -> None:
    helped = Neighbour("learning_rate", up=True, better=True, worse=False, size=1e-3)
    assert not was_passed([Change("learning_rate", "learning_rate", 1e-4, 1e-3)], [helped])
