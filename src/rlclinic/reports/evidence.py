"""The arithmetic of a finding in words: what was measured, what it was held against, where, on how many points."""

from __future__ import annotations

from rlclinic.model.finding import Evidence
from rlclinic.reports.page import Code, Inline
from rlclinic.reports.text import number


def evidence_line(item: Evidence) -> Inline:
    """One comparison in full."""
    name = "" if item.metric in ("", item.logged_as) else f" ({item.metric})"
    what = f", {item.note}" if item.note else ""
    return (Code(item.logged_as), f"{name}{what}: {comparison(item)}{_where(item)}")


def comparison(item: Evidence) -> str:
    """The value and how it stands to its limit."""
    if item.threshold is None:
        return number(item.value)
    relation = "at"
    if item.value != item.value:
        # What is not a number stands in no relation to the limit.
        relation = "against"
    elif item.value != item.threshold:
        relation = "above" if item.value > item.threshold else "below"
    return f"{number(item.value)}, {relation} the limit of {number(item.threshold)}"


def _where(item: Evidence) -> str:
    parts = []
    if item.steps is not None:
        parts.append(f"steps {number(item.steps[0])} to {number(item.steps[1])}")
    if item.points:
        parts.append("1 point" if item.points == 1 else f"{number(item.points)} points")
    return f"; {', '.join(parts)}" if parts else ""
