"""The measure of growth tells linear work from quadratic."""

from __future__ import annotations

from tests.growth import grows_linearly


def test_linear_work_passes_and_quadratic_does_not() -> None:
    assert grows_linearly(lambda size: sum(range(size)), 400_000)
    assert not grows_linearly(lambda size: sum(range(size * size)), 1_000)
