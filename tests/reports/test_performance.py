"""The performance section: start, best, end, and the gap to the threshold."""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.goal import Goal
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.reports.page import Facts, Inline
from rlclinic.reports.performance import performance_blocks


def run_of(values: list[float], threshold: float | None, *, budget: float | None = None) -> Run:
    steps = np.arange(1.0, len(values) + 1) * 100
    series = Series("return/train", "reward", steps, np.array(values), known=True)
    return Run("r", "r", series={"return/train": series}, steps=steps[-1], threshold=threshold, budget=budget)


def facts_of(run: Run, goal: Goal | None = None) -> dict[str, Inline]:
    if goal is None and run.threshold is not None:
        goal = Goal(run.threshold, "run", 0.0, "the run's own threshold")
    told = Diagnosis(run, Verdict.LEARNING, "", curves=RunFacts(run).curves, goal=goal)
    return dict(row for block in performance_blocks(told) if isinstance(block, Facts) for row in block.rows)


def test_a_gap_is_given_in_units_and_in_percent_of_the_gap_at_the_start() -> None:
    facts = facts_of(run_of([0.0] * 10 + [60.0] * 10 + [50.0] * 10, 100.0))
    assert facts["return/train"] == (
        "never reached it: at best 40 below it (40% of the initial gap), "
        "at the end 50 below it (50% of the initial gap)"
    )


def test_percent_is_of_the_way_so_negative_returns_work_too() -> None:
    facts = facts_of(run_of([-500.0] * 10 + [-200.0] * 10, -100.0))
    assert "end 100 below it (25% of the initial gap)" in facts["return/train"]


def test_a_threshold_that_was_reached_says_when_and_whether_it_was_held() -> None:
    held = facts_of(run_of([0.0] * 10 + [100.0] * 10, 90.0, budget=4_000.0))
    lost = facts_of(run_of([0.0] * 10 + [100.0] * 5 + [40.0] * 10, 90.0))
    assert held["return/train"] == "reached it first at step 1,300, 32% of the budget; the end is 10 above it"
    assert lost["return/train"] == ("reached it first at step 1,300; the end is 50 below it (56% of the initial gap)")


def test_no_percent_is_made_up_where_the_start_was_above_the_threshold() -> None:
    facts = facts_of(run_of([10.0] * 10 + [1.0] * 10, 5.0))
    assert facts["return/train"] == "reached it first at step 100; the end is 4 below it"


def test_without_a_threshold_no_gap_is_claimed() -> None:
    assert facts_of(run_of([0.0, 1.0], None)) == {}


def test_the_goal_is_shown_with_who_says_so() -> None:
    facts = facts_of(run_of([0.0] * 10 + [100.0] * 10, None), Goal(90.0, "task", 0.0, "the threshold of CartPole"))
    assert facts["goal"] == "90, the threshold of CartPole"
    assert str(facts["return/train"]).startswith("reached it first at step")


def test_a_run_without_a_return_says_so() -> None:
    told = Diagnosis(Run("r", "r"), Verdict.INSUFFICIENT_DATA, "")
    assert "No metric was logged" in str(performance_blocks(told)[0])
