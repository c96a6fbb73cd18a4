"""What is kept of a file that grows: its beginning and about 2,000 of its rows of each kind, in the same format.

The ordinary readers read that in place of the file, so a look at a run costs the same after a day as after an hour.
"""

from __future__ import annotations

import re
import struct
from typing import Protocol

from rlclinic.readers.formats.tensorboard.tfrecord import FRAME, HEADER, batches

MOST_ROWS = 2_000
# Lines at the start of a table: comments, the header, and rows enough to see what they are.
FIRST_LINES = 32
# Kinds of rows that are kept apart; a table with more has no kinds.
MOST_KINDS = 200
# Bytes of rows that are kept of one file: rows that hold samples or histograms are long.
MOST_SIZE = 64 << 20
# Bytes of a log that are kept at its beginning and at its end.
LOG_START, LOG_END = 2 << 20, 6 << 20
# Bytes of an event beyond which it holds a picture, a histogram or a network, and nothing that is judged.
LARGE_EVENT = 64 << 10
_NOT_FINITE = re.compile(rb"(?<![A-Za-z])[+-]?(?:nan|inf(?:inity)?)(?![A-Za-z])", re.IGNORECASE)
_KEYS = re.compile(rb'"([^"\\]{1,80})"\s*:')


class Kept(Protocol):
    """The part of a file that is kept."""

    def take(self, data: bytes) -> int:
        """Take what was appended; how much of it is whole and need not be read again."""

    def content(self) -> bytes:
        """A file of the same format."""


class _Rows:
    """Rows of one kind: of every few one, and always the newest; rather one that is not finite than another."""

    __slots__ = ("_newest", "_stride", "_waiting", "rows")

    def __init__(self) -> None:
        self.rows: list[tuple[int, bytes, bool]] = []
        self._newest: tuple[int, bytes, bool] | None = None
        self._stride = 1
        self._waiting = 0

    def add(self, number: int, row: bytes, *, notable: bool) -> None:
        if self._newest is None or notable or not self._newest[2]:
            self._newest = number, row, notable
        self._waiting += 1
        if self._waiting < self._stride:
            return
        self.rows.append(self._newest)
        self._newest, self._waiting = None, 0
        if len(self.rows) >= MOST_ROWS:
            self.halve()

    def halve(self) -> None:
        """Of every two rows one."""
        if len(self.rows) > 1:
            pairs = zip(self.rows[::2], self.rows[1::2], strict=False)
            self.rows = [first if first[2] and not second[2] else second for first, second in pairs]
            self._stride *= 2

    def all(self) -> list[tuple[int, bytes, bool]]:
        return self.rows if self._newest is None else [*self.rows, self._newest]


class _Sorted:
    """Rows of all kinds."""

    def __init__(self) -> None:
        self._kinds: dict[object, _Rows] = {}
        self._count = self._size = 0

    def add(self, kind: object, row: bytes, *, notable: bool) -> None:
        if kind not in self._kinds and len(self._kinds) >= MOST_KINDS:
            kind = None
        self._count += 1
        self._kinds.setdefault(kind, _Rows()).add(self._count, row, notable=notable)
        self._size += len(row)
        if self._size > MOST_SIZE:
            # Counted anew, as most of what was added is not kept.
            if len(self.joined()) > MOST_SIZE // 2:
                for rows in self._kinds.values():
                    rows.halve()
            self._size = len(self.joined())

    def joined(self) -> bytes:
        return b"".join(row for _, row, _ in sorted(item for rows in self._kinds.values() for item in rows.all()))


class KeptLines:
    """A table: CSV or JSON lines. Rows in which other cells are filled (evaluations) are of another kind."""

    def __init__(self) -> None:
        self._first: list[bytes] = []
        self._rows = _Sorted()

    def take(self, data: bytes) -> int:
        end = data.rfind(b"\n") + 1
        for line in data[:end].splitlines(keepends=True):
            if len(self._first) < FIRST_LINES:
                self._first.append(line)
                continue
            self._rows.add(_kind_of_line(line), line, notable=_NOT_FINITE.search(line) is not None)
        return end

    def content(self) -> bytes:
        return b"".join(self._first) + self._rows.joined()


class KeptEvents:
    """A TensorBoard event file; every tag is a kind."""

    def __init__(self) -> None:
        self._rows = _Sorted()
        self._first: list[bytes] = []

    def take(self, data: bytes) -> int:
        end = 0
        for batch in batches(data, lambda _: None):
            for start, length in zip(batch.starts.tolist(), batch.lengths.tolist(), strict=True):
                end = start + length + FRAME - HEADER
                if length <= LARGE_EVENT:
                    self._add(data[start : start + length], data[start - HEADER : end])
        return end

    def content(self) -> bytes:
        return b"".join(self._first) + self._rows.joined()

    def _add(self, event: bytes, record: bytes) -> None:
        tag = _tag(event)
        if tag is None:
            if len(self._first) < MOST_KINDS:
                self._first.append(record)
            return
        scalar = len(event) > 5 and event[-5] == 0x15
        notable = scalar and not abs(struct.unpack("<f", event[-4:])[0]) < float("inf")
        self._rows.add(tag, record, notable=notable)


class KeptLog:
    """A log: its beginning and its end, in whole lines."""

    def __init__(self) -> None:
        self._start = b""
        self._end = b""

    def take(self, data: bytes) -> int:
        end = data.rfind(b"\n") + 1
        room = max(LOG_START - len(self._start), 0)
        cut = data.rfind(b"\n", 0, min(room, end)) + 1 if room else 0
        self._start += data[:cut]
        self._end += data[cut:end]
        if len(self._end) > 2 * LOG_END:
            self._end = self._end[self._end.find(b"\n", len(self._end) - LOG_END) + 1 :]
        return end

    def content(self) -> bytes:
        return self._start + self._end


def kept_of(name: str) -> Kept | None:
    """What is kept of a file of this name; None for one that is always read whole."""
    if "tfevents" in name:
        return KeptEvents()
    if name.endswith((".csv", ".tsv", ".jsonl", ".ndjson")):
        return KeptLines()
    return KeptLog() if name.endswith((".log", ".out", ".err")) else None


def _kind_of_line(line: bytes) -> object:
    if line.startswith(b"{"):
        return tuple(_KEYS.findall(line))
    cells = line.rstrip(b"\r\n").split(b"\t" if b"\t" in line and b"," not in line else b",")
    return tuple(not cell for cell in cells)


def _tag(event: bytes) -> bytes | None:
    """The tag of the first value of an event, by its place in the usual layout; None for anything else."""
    at = 9
    if event[at : at + 1] == b"\x10":
        # The step, a number of variable length.
        at += 1
        while at < len(event) and event[at] >= 0x80:
            at += 1
        at += 1
    if event[at : at + 1] != b"\x2a":
        return None
    # summary (length), value (length), tag (length); lengths take one or two bytes.
    for _ in range(2):
        at += 2 if at + 1 < len(event) and event[at + 1] < 0x80 else 3
        if at + 1 >= len(event) or event[at] != 0x0A:
            return None
    length = event[at + 1]
    return event[at + 2 : at + 2 + length] if length < 0x80 else None
