"""Console text in a W&B log: OutputRawRecords in order, of which only the end is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from rlclinic.readers.formats.protobuf import BYTES, WireError, fields, text

MAX_OUTPUT = 2 << 20  # bytes: tracebacks and last progress lines are at the end
_LINE = 3  # field of OutputRawRecord


class ConsoleTail:
    """Collects messages and drops the oldest beyond the limit."""

    def __init__(self) -> None:
        self.cut = False
        self._messages: deque[bytes] = deque()
        self._size = 0

    def add(self, raw: bytes, spans: Iterable[tuple[int, int]]) -> None:
        """Append messages."""
        for start, end in spans:
            self._messages.append(raw[start:end])
            self._size += end - start
            while self._size > MAX_OUTPUT and len(self._messages) > 1:
                self._size -= len(self._messages.popleft())
                self.cut = True

    def text(self) -> str:
        """The text of the messages that were kept."""
        lines = "".join(_line(message) for message in self._messages)
        self.cut = self.cut or len(lines) > MAX_OUTPUT
        return lines[-MAX_OUTPUT:]


def _line(message: bytes) -> str:
    line = ""
    try:
        for field in fields(message, 0, len(message)):
            if field.number == _LINE and field.wire == BYTES:
                line = text(message, field)
    except WireError:
        return line
    return line
