"""The page of lab benchmarks follows from the records."""

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("optuna")

from bench import lab_report


def test_the_page_is_what_the_records_say() -> None:
    assert lab_report.PAGE.read_text(encoding="utf-8") == lab_report.page()
