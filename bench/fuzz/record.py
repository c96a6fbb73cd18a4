"""What was measured: a row for each level and seed, so that a long run may be made in parts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("record.json")


def record() -> dict[str, list[dict[str, Any]]]:
    """The parts of every level."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def note(level: str, row: dict[str, Any]) -> None:
    """Add a part with the commit that it ran on; one with the same seed is replaced."""
    known = record()
    parts = [part for part in known.get(level, []) if part["seed"] != row["seed"]]
    known[level] = [*parts, {**row, "commit": _commit()}]
    RECORD.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _commit() -> str:
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, cwd=RECORD.parent, capture_output=True, text=True, check=True).stdout.strip()
