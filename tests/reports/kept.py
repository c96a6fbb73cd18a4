"""Whole reports kept as files, so that every word of them is reviewed in a diff."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """Compare with the kept file; RLCLINIC_UPDATE_GOLDEN=1 writes it anew."""
    path = GOLDEN / name
    if os.environ.get("RLCLINIC_UPDATE_GOLDEN") == "1":
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{name} is not kept yet: run with RLCLINIC_UPDATE_GOLDEN=1 and read it"
    assert text == path.read_text(encoding="utf-8"), f"{name} changed: RLCLINIC_UPDATE_GOLDEN=1 writes it anew"
