"""An alert as text for people and as plain data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlclinic.live.alerts import Alert, Change
from rlclinic.model.finding import Evidence
from rlclinic.reports.text import number, printable, shorten

WIDTH = 300
"""Characters of one line of a message, at most."""
SCHEMA = "rlclinic.alert/1"


def headline(alert: Alert) -> str:
    """One line."""
    word = {Change.RAISED: "", Change.ESCALATED: "now graver: ", Change.CLEARED: "cleared: "}[alert.change]
    return _clean(f"[{alert.level.value}] {word}{alert.title} at step {number(alert.step)} of {alert.run}")


def body(alert: Alert) -> list[str]:
    """What it rests on, why, what to do, and what shows more; nothing for what is over."""
    if alert.change is Change.CLEARED:
        return []
    lines = [alert.summary]
    lines += [_evidence(item) for item in alert.evidence[:2]]
    if alert.onset is not None:
        lines.append(f"began at step {number(alert.onset)}")
    for word, text in (
        ("leading cause", alert.cause),
        ("to do", alert.prescription),
        ("change", alert.change_text),
        ("without a restart", alert.on_the_fly),
        ("more", alert.command),
    ):
        if text:
            lines.append(f"{word}: {text}")
    return [_clean(line) for line in lines]


def text(alert: Alert) -> str:
    """The whole message."""
    return "\n  ".join([headline(alert), *body(alert)])


def digest(alerts: Sequence[Alert]) -> str:
    """Several messages as one."""
    return "\n\n".join(text(alert) for alert in alerts)


def to_object(alert: Alert) -> dict[str, Any]:
    """Plain data."""
    return {
        "schema": SCHEMA,
        "change": alert.change.value,
        "key": alert.key,
        "code": alert.code,
        "level": alert.level.value,
        "title": alert.title,
        "summary": alert.summary,
        "run": alert.run,
        "step": alert.step,
        "onset_step": alert.onset,
        "evidence": [
            {
                "metric": item.metric,
                "logged_as": item.logged_as,
                "value": item.value,
                "threshold": item.threshold,
                "steps": list(item.steps) if item.steps is not None else None,
                "points": item.points,
            }
            for item in alert.evidence
        ],
        "cause": alert.cause,
        "prescription": alert.prescription,
        "change_text": alert.change_text,
        "on_the_fly": alert.on_the_fly,
        "command": alert.command,
    }


def _evidence(item: Evidence) -> str:
    limit = "" if item.threshold is None else f", limit {number(item.threshold)}"
    note = f" ({item.note})" if item.note else ""
    return f"{item.logged_as} = {number(item.value)}{note}{limit}, {item.points} points"


def _clean(line: str) -> str:
    return shorten(printable(line), WIDTH)
