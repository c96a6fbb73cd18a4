"""The recorded runs are read as what they are. What they are was computed without rlclinic (see fixtures/README.md)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from rlclinic.readers import status
from rlclinic.readers.discover import find
from rlclinic.readers.open import read

HERE = Path(__file__).parent / "fixtures"
EXPECTED: list[dict[str, Any]] = yaml.safe_load((HERE / "expected.yaml").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _a_day_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that were recorded minutes ago must not count as still running."""
    monkeypatch.setattr(status.time, "time", lambda: time.time_ns() / 1e9 + 86_400)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda entry: entry["path"])
def test_a_recorded_run_is_read_as_what_it_is(expected: dict[str, Any]) -> None:
    run = read(HERE / "runs" / expected["path"])
    found = {
        "framework": run.framework,
        "source": run.source,
        "algorithm": run.algorithm,
        "environment": run.environment,
        "status": run.status.state.value,
    }
    for field in expected["not_in_files"]:
        # What the files do not tell must not be guessed wrong; a folder's name may tell a task, never its version.
        assert found.pop(field) in {"", "unknown", expected[field], str(expected[field]).partition("-v")[0]}
    assert found == {key: expected[key] for key in found}
    if expected.get("env_steps") is not None:
        assert run.env_steps == pytest.approx(expected["env_steps"])
    if expected.get("return_last") is not None:
        assert run.returns is not None
        assert run.returns.last == pytest.approx(expected["return_last"], rel=1e-3)


def test_every_recorded_run_is_found_once() -> None:
    found = {ref.path.relative_to(HERE / "runs").as_posix() for ref in find(HERE / "runs")}
    listed = {entry["path"].partition("::")[0] for entry in EXPECTED}
    assert {path for path in found if not path.startswith("faults/")} == listed
