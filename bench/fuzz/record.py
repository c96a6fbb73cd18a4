"""The numbers of the last whole run, and the page that shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("record.json")


def record() -> dict[str, Any]:
    """What was measured, by level."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def note(level: str, row: dict[str, Any]) -> None:
    """Replace what is known about a level."""
    RECORD.write_text(json.dumps({**record(), level: row}, indent=1) + "\n", encoding="utf-8")
