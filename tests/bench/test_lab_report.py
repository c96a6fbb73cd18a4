"""The page of lab benchmarks follows from the records."""

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("optuna")

from bench.repair import score

from bench import lab_report


def test_the_page_is_what_the_records_say() -> None:
    assert lab_report.PAGE.read_text(encoding="utf-8") == lab_report.page()


def test_configurations_without_a_treatment_are_named_on_the_page() -> None:
    every = score.cases(score.patients(), score.baselines())
    kept = [case for case in every if case.task != "room-dqn"]
    assert "7 of room-dqn" in lab_report._untreated(kept)
    assert "room-dqn" not in lab_report._untreated(every)


def test_seeds_that_nobody_looked_at_are_counted_apart() -> None:
    done = {"applied": 0, "before": 0.2, "after": 0.95, "confirmed": None}
    lines = [
        {"task": "room-dqn", "fault": "late-start", "seed": 3, "level": 0.2, "rounds": [done]},
        {"task": "room-dqn", "fault": "late-start", "seed": 4, "level": 0.2, "rounds": [{**done, "after": 0.5}, done]},
        {"task": "room-dqn", "fault": "slow-target", "seed": 3, "level": 0.95, "rounds": [{**done, "applied": None}]},
    ]
    told = lab_report._held_out(lines)
    assert "On further seeds (3, 4)" in told
    assert "2 of these configurations" in told
    assert "of 2 patients below the bar the first change repairs 1 and three rounds 2, and 0 of 3 changes" in told
    assert lab_report._held_out([]) == ""
    assert {line["seed"] for line in score.patients()} == {0, 1, 2}
