"""What holds of a run now that is worth an alert, and what to do with a run that goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply
from rlclinic.apps.mcp.workspace import OpenRun, Workspace

if TYPE_CHECKING:
    from rlclinic.live.alerts import Alert

# Seconds that a call waits for news, at most, and between two looks.
LONGEST_WAIT, LOOK = 50.0, 1.0


class LiveAlert(Part):
    key: str
    level: str
    title: str
    summary: str
    onset_step: Number | None
    code: str
    """Of the rule that sees it; explain tells more. Empty for a cause."""
    cause: str
    """The leading cause of the run with its probability."""
    prescription: str
    on_the_fly: str
    """The line that makes the change in the running process; empty where it needs a restart."""


class WatchReply(Reply):
    run_id: str
    state: str
    step: Number
    """Give it as since_step to wait for news."""
    budget: Number | None
    verdict: str
    advice: str
    """continue, stop or restart; empty for a run that has ended."""
    reason: str
    alerts: list[LiveAlert]
    """What holds now, derived anew at every call."""
    cannot_be_alerted_to: list[str]
    news: bool
    untrusted: str = UNTRUSTED


async def watch_run(
    workspace: Workspace, run_id: str, since_step: float | None = None, timeout: float = 20
) -> WatchReply:
    """How a run stands that goes on: alerts that hold, and whether to continue, stop or restart, with the reason. With
    `since_step` it waits, at most 50 s, until the run has gone on from there or has ended."""
    end = time.monotonic() + max(0.0, min(timeout, LONGEST_WAIT))
    opened = await anyio.to_thread.run_sync(workspace.open, run_id)
    while since_step is not None and not _is_news(opened, since_step) and time.monotonic() < end:
        await anyio.sleep(LOOK)
        opened = await anyio.to_thread.run_sync(workspace.open, run_id)
    return await anyio.to_thread.run_sync(_reply, opened, since_step)


def alerts_of(opened: OpenRun) -> list[LiveAlert]:
    """Everything that holds of a run and is worth an alert, the gravest first."""
    from rlclinic.live.alerts import Change, alert_of
    from rlclinic.live.conditions import conditions_of

    diagnosis = opened.diagnosis
    return [_part(alert_of(Change.RAISED, condition, diagnosis)) for condition in conditions_of(diagnosis)]


def _is_news(opened: OpenRun, since_step: float) -> bool:
    """Whether it has gone on or ended. A log without times does not say that its run goes on, but may grow."""
    return opened.run.steps > since_step or opened.run.status.state.value not in ("running", "unknown")


def _reply(opened: OpenRun, since_step: float | None) -> WatchReply:
    from rlclinic.live.conditions import lacking

    diagnosis, run = opened.diagnosis, opened.run
    outlook = diagnosis.outlook
    reply = WatchReply(
        run_id=run.id,
        state=run.status.state.value,
        step=run.steps,
        budget=run.budget,
        verdict=diagnosis.verdict.value,
        advice=outlook.advice.value if outlook is not None else "",
        reason=outlook.reason if outlook is not None else diagnosis.reason,
        alerts=alerts_of(opened),
        cannot_be_alerted_to=list(lacking(diagnosis)),
        news=since_step is None or _is_news(opened, since_step),
    )
    word = reply.advice or reply.verdict
    return reply.said(f"{run.id!r} is {reply.state}: {word}, {len(reply.alerts)} alerts hold. {reply.reason}.")


def _part(alert: Alert) -> LiveAlert:
    return LiveAlert(
        key=alert.key,
        level=alert.level.value,
        title=alert.title,
        summary=alert.summary,
        onset_step=alert.onset,
        code=alert.code,
        cause=alert.cause,
        prescription=alert.prescription,
        on_the_fly=alert.on_the_fly,
    )
