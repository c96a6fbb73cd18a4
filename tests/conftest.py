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
