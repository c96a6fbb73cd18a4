"""Why a cause is as likely as it is, as a small table and as JSON."""

from __future__ import annotations

import math
from typing import Any

from rlclinic.model.explanation import Explanation
from rlclinic.model.numbers import percent
from rlclinic.reports.text import columns, printable

OUT = "out of the question: nothing that could show it can be seen in such a run"


def explanation_text(found: Explanation) -> str:
    """The pieces in the order of the table of causes, and their sum."""
    if not found.pieces:
        return f"{found.cause}: {OUT}\n"
    share = percent(found.probability)
    rows = [(f"{piece.value:+.2f}", piece.kind, printable(piece.text)) for piece in found.pieces]
    total = (f"{math.log(found.probability):+.2f}", "sum", "the natural logarithm of its probability")
    return "\n".join([f"{found.cause}: {share}", *columns([*rows, total], right=frozenset({0}))]) + "\n"


def explanation_object(found: Explanation) -> dict[str, Any]:
    """The same for programs, not rounded."""
    pieces = [{"kind": piece.kind, "text": piece.text, "value": piece.value} for piece in found.pieces]
    return {
        "schema": "rlclinic.why/1",
        "cause": found.cause,
        "probability": found.probability,
        "pieces": pieces,
        "sum": sum(piece.value for piece in found.pieces) if found.pieces else None,
    }
