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
