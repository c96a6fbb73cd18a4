"""The performance section: start, best, end, and the gap to the threshold."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.diagnosis import Target
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.reports.page import Facts, Inline
from rlclinic.reports.performance import course, performance_blocks


def run_of(values: list[float], threshold: float | None, *, budget: float | None = None) -> Run:
    steps = np.arange(1.0, len(values) + 1) * 100
    series = Series("return/train", "reward", steps, np.array(values), known=True)
    return Run("r", "r", series={"return/train": series}, steps=steps[-1], threshold=threshold, budget=budget)


def facts_of(run: Run) -> dict[str, Inline]:
    return dict(row for block in performance_blocks(run) if isinstance(block, Facts) for row in block.rows)


def test_start_and_end_are_means_of_their_windows_and_best_is_one_value() -> None:
    found = course(run_of([0.0, 2.0, *([5.0] * 94), 50.0, *([8.0] * 6)], None).series["return/train"])
    assert found is not None
    assert found.start == pytest.approx((0 + 2 + 4 * 5) / 6)
    assert (found.best, found.best_step) == (50.0, 9_700.0)
    assert found.end == pytest.approx((5 * 5 + 50 + 6 * 8) / 12)


def test_a_gap_is_given_in_units_and_in_percent_of_the_gap_at_the_start() -> None:
    facts = facts_of(run_of([0.0] * 10 + [60.0] * 10 + [50.0] * 10, 100.0))
    assert facts["return/train"] == (
        "never reached it: best 40 below it (40 % of the gap at the start), "
        "end 50 below it (50 % of the gap at the start)"
    )


def test_percent_is_of_the_way_so_negative_returns_work_too() -> None:
    facts = facts_of(run_of([-500.0] * 10 + [-200.0] * 10, -100.0))
    assert "end 100 below it (25 % of the gap at the start)" in facts["return/train"]


def test_a_threshold_that_was_reached_says_when_and_whether_it_was_held() -> None:
    held = facts_of(run_of([0.0] * 10 + [100.0] * 10, 90.0, budget=4_000.0))
    lost = facts_of(run_of([0.0] * 10 + [100.0] * 5 + [40.0] * 10, 90.0))
    assert held["return/train"] == "reached it first at step 1,100, 28 % of the budget; the end is 10 above it"
    assert lost["return/train"] == (
        "reached it first at step 1,100; the end is 50 below it (56 % of the gap at the start)"
    )


def test_no_percent_is_made_up_where_the_start_was_above_the_threshold() -> None:
    facts = facts_of(run_of([10.0] * 10 + [1.0] * 10, 5.0))
    assert facts["return/train"] == "reached it first at step 100; the end is 4 below it"


def test_without_a_threshold_no_gap_is_claimed() -> None:
    assert facts_of(run_of([0.0, 1.0], None)) == {}


@pytest.mark.parametrize("values", [[], [float("nan")] * 5, [float("inf")]])
def test_a_return_without_a_finite_value_has_no_course(values: list[float]) -> None:
    assert course(run_of([0.0], None).series.get("nothing")) is None
    steps = np.arange(float(len(values)))
    assert course(Series("return/train", "reward", steps, np.array(values))) is None


def test_huge_returns_do_not_overflow() -> None:
    found = course(run_of([1e308] * 50, None).series["return/train"])
    assert found is not None
    assert found.start == pytest.approx(1e308)


def test_the_target_of_the_task_serves_where_the_run_names_no_threshold() -> None:
    target = Target(90.0, "the threshold of CartPole")
    run = run_of([0.0] * 10 + [100.0] * 10, None)
    facts = dict(row for block in performance_blocks(run, target) if isinstance(block, Facts) for row in block.rows)
    assert facts["goal"] == "90, the threshold of CartPole"
    assert facts["return/train"] == "reached it first at step 1,100; the end is 10 above it"


def test_the_runs_own_threshold_comes_before_that_of_the_task() -> None:
    run = run_of([0.0] * 10 + [100.0] * 10, 50.0)
    blocks = performance_blocks(run, Target(90.0, "the threshold of CartPole"))
    facts = dict(row for block in blocks if isinstance(block, Facts) for row in block.rows)
    assert facts["threshold"] == "50"
    assert "goal" not in facts
