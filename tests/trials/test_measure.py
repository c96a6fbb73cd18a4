"""From a run to its outcome."""

import numpy as np
import pytest

from rlclinic.model.run import Run, RunStatus, Status
from rlclinic.model.series import Series
from rlclinic.model.trial import OutcomeState
from rlclinic.trials.measure import measure


def run_with(
    curves: dict[str, tuple[list[float], list[float]]], state: Status = Status.FINISHED, reason: str = ""
) -> Run:
    series = {
        name: Series(
            name=name, logged_as=name, steps=np.array(steps, dtype=float), values=np.array(values, dtype=float)
        )
        for name, (steps, values) in curves.items()
    }
    return Run(id="r", path="r", series=series, status=RunStatus(state, reason))


def test_the_mean_counts_the_budget_that_a_run_saved_by_stopping_at_the_goal() -> None:
    steps, values = list(range(0, 60, 10)), [0.0, 100.0, 100.0, 100.0, 100.0, 100.0]
    outcome = measure(run_with({"return/eval": (steps, values)}), "a", 1, budget=100, threshold=90, wall_time=2.0)
    assert outcome.state is OutcomeState.DONE
    assert outcome.auc == pytest.approx(95.0)  # 10 steps at 50 on average, 90 at 100
    assert outcome.final_return == 100.0
    assert outcome.steps_to_threshold == 10.0
    assert outcome.steps == 50.0


def test_evaluations_are_preferred_to_training_returns_where_there_are_enough() -> None:
    train = ([0, 10, 20, 30], [1.0, 1.0, 1.0, 1.0])
    many = run_with({"return/train": train, "return/eval": ([10, 20, 30], [5.0, 5.0, 5.0])})
    few = run_with({"return/train": train, "return/eval": ([30], [5.0])})
    assert measure(many, "a", 0, budget=30, threshold=None, wall_time=0).final_return == 5.0
    assert measure(few, "a", 0, budget=30, threshold=None, wall_time=0).final_return == 1.0


def test_a_run_that_died_failed_whatever_its_curve_was() -> None:
    died = run_with({"return/eval": ([0, 10, 20], [1.0, 2.0, 3.0])}, Status.CRASHED, "ValueError: nan")
    outcome = measure(died, "a", 0, budget=20, threshold=None, wall_time=0)
    assert (outcome.state, outcome.error) == (OutcomeState.FAILED, "ValueError: nan")


def test_a_run_without_a_return_failed_and_says_so() -> None:
    outcome = measure(run_with({"entropy": ([0, 1], [1.0, 1.0])}), "a", 0, budget=20, threshold=None, wall_time=0)
    assert (outcome.state, outcome.error) == (OutcomeState.FAILED, "no return was logged")


def test_gaps_in_the_return_do_not_become_gaps_in_the_outcome() -> None:
    outcome = measure(
        run_with({"return/eval": ([0, 10, 20, 30], [1.0, float("nan"), 3.0, 3.0])}),
        "a",
        0,
        budget=30,
        threshold=None,
        wall_time=0,
    )
    assert outcome.auc == pytest.approx((20 * 2 + 10 * 3) / 30)
