"""The page of offline learning: what it says is what is recorded."""

from __future__ import annotations

from bench.offline import score


def test_the_page_is_that_of_the_record() -> None:
    assert score.PAGE.read_text(encoding="utf-8") == score.report()
