"""How a run ended, from the clues in its files."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from rlclinic.model.run import RunStatus, Status
from rlclinic.readers.draft import DECIDED, LIKELY, SEEN, Draft
from rlclinic.readers.formats.logs.log_text import final_exception

# A log that was written to this recently, in seconds, belongs to a run that is still going; where its rows came faster,
# one that was written to within so many of their longest pause, and no less than a minute.
FRESH = 600.0
SHORTEST, PAUSES = 60.0, 10.0
NO_ERROR = "with no error"
"""How the reason ends for a run that stopped early and says nothing of it."""
# Trainers stop at the end of a rollout, so a run may end a little short of its budget.
BUDGET_REACHED = 0.98


_FROM_OUTSIDE = re.compile(r"KeyboardInterrupt|got signal|SIGTERM|SIGINT|SIGHUP")
# What trainers and home-made loops print when they are through, in the last lines of a log.
LAST_LINES = 20
_THROUGH = re.compile(
    r"""['"]train_runtime['"]\s*:|\btraining (?:is )?(?:complete|completed|finished|done|ended)\b"""
    r"""|\b(?:finished|completed|done with|end of) training\b""",
    re.IGNORECASE,
)
# What a program says that has caught its own failure.
_FAILED = re.compile(r"\b(?:training|run|job|experiment|program) (?:has )?(?:failed|crashed|aborted)\b", re.IGNORECASE)
# A last line of a logger at this level: nothing came after it.
_ERROR = re.compile(r".{0,80}?(?:[\[\s:|-]|\A)(?:ERROR|CRITICAL|FATAL)(?:[\]\s:|-]|\Z)")
# Rows of metrics after an exception that only a run which goes on writes.
WENT_ON = 2


def status_of(
    draft: Draft,
    steps: float,
    budget: float | None,
    last_wall_time: float | None,
    pause: float | None = None,
    rows: int = 2,
) -> RunStatus:
    """The state and the reason, by the strongest clue; the steps that were taken are stronger than a failure.

    `pause` is the longest time between two rows of the log. One row alone may stand anywhere in a run.
    """
    told = max(draft.clues, key=lambda clue: clue.strength, default=None)
    if told is not None and told.strength < DECIDED and _went_on(draft, told.state, last_wall_time):
        draft.note(f"{told.reason}, but steps were logged after that")
        told = None
    settled = told is not None and (told.state is Status.FINISHED or told.strength >= DECIDED)
    if budget and steps >= BUDGET_REACHED * budget and not settled:
        beside = f"; after that: {told.reason}" if told is not None else ""
        return RunStatus(Status.FINISHED, f"{steps:,.0f} of {budget:,.0f} budgeted steps were taken{beside}")
    if told is not None and told.strength >= SEEN:
        return RunStatus(told.state, told.reason)
    if _is_fresh(draft, last_wall_time, FRESH if pause is None else min(FRESH, max(SHORTEST, PAUSES * pause))):
        return RunStatus(Status.RUNNING, "the log was written to a moment ago")
    if told is not None:
        return RunStatus(told.state, told.reason)
    if budget and steps > 0 and rows > 1:
        share = 100 * steps / budget
        return RunStatus(
            Status.INTERRUPTED,
            f"the log ends at {share:.0f}% of the budget of {budget:,.0f} steps, {NO_ERROR}",
        )
    return RunStatus(Status.UNKNOWN, "nothing in the files says how the run ended")


def log_clues(draft: Draft, lines: list[str], file: str, rows: Sequence[int] = ()) -> None:
    """Add what the end of a log shows: an exception, an interrupt, a kill, or that training is through.

    `rows` are the lines of metrics: what they follow was survived.
    """
    found = final_exception(lines)
    if found is not None and sum(row > found[1] for row in rows) >= WENT_ON:
        draft.note(f"{file}:{found[1]}: {found[0]}, but training went on after that")
        found = None
    if found is None and (failed := _failed(lines)) > max(rows, default=0):
        draft.clue(Status.CRASHED, f"{file}:{failed}: {lines[failed - 1].strip()}", LIKELY)
        return
    if found is None:
        said = next((line.strip() for line in reversed(lines[-LAST_LINES:]) if _THROUGH.search(line)), "")
        if said:
            draft.clue(Status.FINISHED, f"{file}: the log ends with {_THROUGH.findall(said)[0].strip()}", LIKELY)
        return
    message, line = found
    if _FROM_OUTSIDE.search(message):
        draft.clue(Status.INTERRUPTED, f"{file}:{line}: stopped from outside ({message})", SEEN)
    else:
        draft.clue(Status.CRASHED, f"{file}:{line}: {message}", SEEN)


def _failed(lines: list[str]) -> int:
    """The line in which a program says that it failed, or that a logger left as its last, at level error; else 0."""
    last = [number for number in range(len(lines), 0, -1)[:LAST_LINES] if lines[number - 1].strip()]
    if last and _ERROR.match(lines[last[0] - 1]):
        return last[0]
    return next((number for number in last if _FAILED.search(lines[number - 1])), 0)


def _went_on(draft: Draft, state: Status, last_wall_time: float | None) -> bool:
    """Whether steps were logged long after the end that was recorded, as those of a run that was taken up again are."""
    if state is Status.FINISHED or draft.ended_at is None or last_wall_time is None:
        return False
    return last_wall_time > draft.ended_at + FRESH


def _is_fresh(draft: Draft, last_wall_time: float | None, fresh: float) -> bool:
    """Whether the files are being written now.

    The time inside the log counts where it has one: a copied or checked-out log has a new file time and
    old content. Without one the files must differ in age, which those of a copy do not.
    """
    now = time.time()
    read = [entry for entry in draft.place.entries if entry.relative in draft.files]
    newest = max((entry.modified for entry in read), default=0.0)
    # A time in the future is as old as one in the past: a clock was set.
    if abs(now - newest) > fresh:
        return False
    if last_wall_time is not None:
        return now - last_wall_time < fresh
    oldest = min(entry.modified for entry in read)
    return newest - oldest > 5.0
