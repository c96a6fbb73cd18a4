"""The outlook of a running run in words: its course so far, what to expect, and what to do with it."""

from __future__ import annotations

from typing import Any

from rlclinic.model.numbers import percent
from rlclinic.model.outlook import Advice, Expectation, Outlook
from rlclinic.model.words import sentence
from rlclinic.reports.page import Block, Facts, Inline, Words
from rlclinic.reports.performance import duration
from rlclinic.reports.text import number

ADVICE_WORDS = {
    Advice.CONTINUE: "Let it run",
    Advice.STOP: "Stop it",
    Advice.RESTART: "Stop it and start again with another config",
}


def outlook_blocks(outlook: Outlook | None) -> list[Block]:
    """What the outlook section says; nothing for a run that has ended."""
    if outlook is None:
        return []
    rows: list[tuple[str, Inline]] = [("trajectory", f"{outlook.trajectory.value}: {outlook.summary}")]
    if outlook.progress is not None:
        left = "" if outlook.seconds_left is None else f", about {duration(outlook.seconds_left)} left at this speed"
        rows.append(("budget", f"{percent(outlook.progress)} used{left}"))
    if outlook.goal is not None:
        rows.append(("goal", f"{number(outlook.goal)}, {outlook.goal_origin}"))
    if outlook.expectation is not None:
        rows += _expected(outlook.expectation)
    return [
        Words(f"{ADVICE_WORDS[outlook.advice]}: {outlook.reason}.", leads=True),
        Facts(tuple(rows)),
        Words("The run is still going: these numbers are progress so far, not a result."),
    ]


def outlook_object(outlook: Outlook | None) -> dict[str, Any] | None:
    """The `outlook` object of the JSON contract; null for a run that has ended."""
    if outlook is None:
        return None
    ahead = outlook.expectation
    return {
        "trajectory": outlook.trajectory.value,
        "summary": outlook.summary,
        "advice": outlook.advice.value,
        "reason": outlook.reason,
        "progress": outlook.progress,
        "target": outlook.goal,
        "target_origin": outlook.goal_origin,
        "expectation": None
        if ahead is None
        else {
            "probability": ahead.probability,
            "value": ahead.value,
            "interval": [ahead.low, ahead.high],
            "step": ahead.step,
            "step_interval": None if ahead.step_low is None else [ahead.step_low, ahead.step_high],
        },
        "seconds_left": outlook.seconds_left,
    }


def _expected(ahead: Expectation) -> list[tuple[str, Inline]]:
    level = f"{number(ahead.value)} ({number(ahead.low)} to {number(ahead.high)})"
    rows: list[tuple[str, Inline]] = [
        ("chance", f"{percent(ahead.probability)} of the goal within the budget"),
        ("at the end", sentence(f"{level} if it goes on as it does now, 90% interval")),
    ]
    if ahead.step is not None and ahead.probability >= 0.5:
        span = "" if ahead.step_low is None else f" ({number(ahead.step_low)} to {number(ahead.step_high)})"
        rows.append(("expected", f"at step {number(ahead.step)}{span}"))
    return rows
