"""Fixtures shared by all tests: the recorded runs, and an index that is not the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

RUNS = Path(__file__).parent / "fixtures" / "runs"


@pytest.fixture
def runs() -> Path:
    """The folder of recorded runs."""
    return RUNS


@pytest.fixture(autouse=True)
def _own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLCLINIC_INDEX", str(tmp_path / "index" / "runs.sqlite"))
    monkeypatch.setenv("RLCLINIC_LEDGER", str(tmp_path / "ledger" / "trials.sqlite"))


@pytest.fixture
def errors_are_contained() -> None:
    """For tests of what becomes of an error that rlclinic did not foresee."""


@pytest.fixture(autouse=True)
def _unforeseen_errors_surface(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere such an error fails the test as what it is: contained, it would look like any other unreadable run."""
    if "errors_are_contained" not in request.fixturenames:
        monkeypatch.setattr("rlclinic.model.errors._place", _raise)


def _raise(error: Exception) -> str:
    raise error
