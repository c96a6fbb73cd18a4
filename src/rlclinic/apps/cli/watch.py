"""`rlclinic watch`: follow runs as they train."""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from rlclinic.apps.cli.output import say, terminal_width, write, write_lines
from rlclinic.apps.cli.reading import goal_option
from rlclinic.model.errors import ExitCode, RunReadError

if TYPE_CHECKING:
    from rlclinic.live.watch import Event, Watch

# Back to the first column and row, and clear what follows.
_HOME = "\x1b[H\x1b[J"


@click.command()
@click.argument("names", nargs=-1, metavar="RUN|DIR...")
@click.option("--interval", type=click.FloatRange(0.1, 3600), default=2.0, show_default=True, help="Seconds per look.")
@click.option("--once", is_flag=True, help="Look once, print, and end.")
@click.option("--stay", is_flag=True, help="Go on when all runs have ended: new ones may begin.")
@click.option("--sink", "sinks", multiple=True, metavar="SINK", help="Where else alerts go; repeatable.")
@click.option("--alerts", multiple=True, metavar="PRESET", help="rules (default) or thresholds; repeatable.")
@goal_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event and line.")
def watch(
    names: tuple[str, ...],
    interval: float,
    once: bool,
    stay: bool,
    sinks: tuple[str, ...],
    alerts: tuple[str, ...],
    goal: float | None,
    as_json: bool,
) -> None:
    """Follow runs while they train, by their files alone: return and forecast, findings, and what to do.

    RUN is a run folder or file, DIR a folder of runs; runs/ by default. SINK is log, terminal, bell, jsonl:FILE, the
    address of a webhook, webhook for the one in RLCLINIC_WEBHOOK, or mailto:ADDRESS. It ends when all runs have ended.
    Exit codes: 0, 1 where an error holds at the end, 2 a usage error, 5 nothing readable, 130 Ctrl-C.
    """
    from rlclinic.live.conditions import RULES, checked_presets
    from rlclinic.live.delivery import Delivery
    from rlclinic.live.guard import Guard
    from rlclinic.live.sinks import make_sink
    from rlclinic.live.watch import Watch

    delivery = Delivery([make_sink(sink) for sink in sinks], Guard())
    following = Watch([_named(name) for name in names or ("runs",)], checked_presets(alerts or (RULES,)), goal=goal)
    screen = not as_json and not once and sys.stdout.isatty()
    try:
        while True:
            events = following.poll()
            delivery.send([event.alert for event in events if event.alert is not None])
            _show(following, events, as_json=as_json, screen=screen, once=once)
            if once or (following.ended and not stay):
                break
            time.sleep(interval)
    except KeyboardInterrupt:
        click.get_current_context().exit(int(ExitCode.INTERRUPTED))
    finally:
        delivery.close()
    click.get_current_context().exit(_exit_code(following))


def _named(name: str) -> str:
    """A path as it is, also of what is not there yet; a nickname or id as the run that it stands for."""
    from pathlib import Path

    from rlclinic.readers.discover import split_name
    from rlclinic.store.names import resolve

    if Path(split_name(name)[0]).exists() or ("/" in name and "@" not in name):
        return name
    return resolve(name)[0] if name != "runs" else name


def _show(following: Watch, events: list[Event], *, as_json: bool, screen: bool, once: bool) -> None:
    if as_json:
        from rlclinic.readers.redaction.redact import redact_value
        from rlclinic.reports.run_json import dumps

        for event in events:
            write(dumps(redact_value("", event.to_object()), indent=None) + "\n")
        return
    from rlclinic.live.view import event_lines, overview

    if screen or once:
        runs = list(following.runs.values())
        drawn = overview(runs, terminal_width()) if runs else ["no run here yet"]
        if screen:
            # A table that scrolls away shows its oldest runs.
            drawn = drawn[: get_terminal_size().lines - 1]
            write(_HOME)
        write_lines(drawn)
        return
    for event in events:
        write_lines(event_lines(event))


def _exit_code(following: Watch) -> int:
    read = [watched for watched in following.runs.values() if watched.look is not None]
    if not read:
        if not following.runs:
            raise RunReadError("no run is there", hint="name a run or a folder of runs; --stay waits for one")
        for watched in following.runs.values():
            say(f"rlclinic: {watched.name}: {watched.problem}")
        return int(ExitCode.NOTHING_READABLE)
    errors = any(watched.look is not None and watched.look.errors for watched in read)
    return int(ExitCode.FINDINGS if errors else ExitCode.OK)
