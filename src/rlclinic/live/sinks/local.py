"""Sinks on this machine: the program's log, the terminal, its bell, a file of JSON lines."""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, TextIO

from rlclinic.live.alerts import Alert, Change
from rlclinic.live.guard import LOGGER
from rlclinic.live.messages import text, to_object
from rlclinic.live.sinks.base import Sink
from rlclinic.model.finding import Severity
from rlclinic.readers.redaction.redact import redact, redact_value
from rlclinic.reports.run_json import dumps


class LogSink(Sink):
    """Python's logging, under the name `rlclinic`."""

    name: ClassVar[str] = "log"

    def send(self, alerts: Sequence[Alert]) -> None:
        for alert in alerts:
            grave = alert.level is Severity.ERROR and alert.change is not Change.CLEARED
            LOGGER.log(logging.ERROR if grave else logging.WARNING, "%s", redact(text(alert)))


class TerminalSink(Sink):
    """Lines on stderr, where they do not mix with results."""

    name: ClassVar[str] = "terminal"

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def send(self, alerts: Sequence[Alert]) -> None:
        stream = self._stream or sys.stderr
        stream.write("".join(f"{redact(text(alert))}\n" for alert in alerts))
        stream.flush()


class BellSink(Sink):
    """The bell of the terminal, for what is raised or gets graver."""

    name: ClassVar[str] = "bell"

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def send(self, alerts: Sequence[Alert]) -> None:
        stream = self._stream or sys.stderr
        if stream.isatty() and any(alert.change is not Change.CLEARED for alert in alerts):
            stream.write("\a")
            stream.flush()


class JsonLinesSink(Sink):
    """A file with one JSON object per alert; several processes may append to it."""

    name: ClassVar[str] = "jsonl"

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def send(self, alerts: Sequence[Alert]) -> None:
        lines = "".join(dumps(redact_value("", to_object(alert)), indent=None) + "\n" for alert in alerts)
        # One write of whole lines in append mode: other writers cannot come between.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self._path, flags, 0o644)
        try:
            data = lines.encode()
            if os.write(handle, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)
