"""A text file as pieces of whole lines: bounded reading, encodings, NUL bytes, lines without end."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from rlclinic.readers.formats.tables.notes import Notes
from rlclinic.readers.place import Entry

MAX_BYTES = 1 << 31  # read of one file; the table made of it has a limit of its own
MAX_WHOLE = 1 << 28  # bytes of a file that cannot be read in pieces: UTF-16, old Mac line ends, JSON arrays
FAST_BYTES = 8 << 20  # from here on reading takes longer than importing polars (0.37 s)
SEGMENT_BYTES = 1 << 24  # read at a time: keeps all threads of polars busy, and malloc reuses the memory
BLOCK_BYTES = 1 << 20  # converted at a time without polars
LONGEST_LINE = 1 << 24  # bytes; a longer "line" is binary data or a zero-filled tail


class Lines:
    """The lines of an open file, in an ASCII-like encoding and with newlines."""

    def __init__(self, file: BinaryIO, size: int, notes: Notes, *, max_bytes: int = MAX_BYTES) -> None:
        self.size = size
        self._file = file
        self._notes = notes
        self._at, self._end = 0, size
        self._is_cut = False  # the end is ours, not the writer's
        self._limit(max_bytes)
        head = self.peek()
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            head = self._replace(self.take_all().decode("utf-16", "ignore").encode())
        if b"\r" in head and b"\n" not in head:
            head = self._replace(self.take_all().replace(b"\r", b"\n"))
        if head.startswith(codecs.BOM_UTF8):
            self._at = len(codecs.BOM_UTF8)
        self._piece = BLOCK_BYTES

    @classmethod
    def of(cls, data: bytes, notes: Notes) -> Lines:
        return cls(io.BytesIO(data), len(data), notes)

    @property
    def share(self) -> float:
        """How much of the file has been taken, 0 to 1."""
        return self._at / max(self._end, 1)

    def peek(self) -> bytes:
        """What comes next, up to BLOCK_BYTES."""
        return self._read(self._at, min(self._at + BLOCK_BYTES, self._end))

    def take_all(self) -> bytes:
        """All that is left."""
        self._limit(MAX_WHOLE)
        start, self._at = self._at, self._end
        return self._read(start, self._end)

    def take(self, line: int) -> bytes:
        """The lines from number `line` on: a block at first, then segments; empty at the end of the file.

        They end with a line end, except for the last one if the file does not.
        """
        start, size = self._at, self._piece
        self._piece = SEGMENT_BYTES
        if start >= self._end:
            return b""
        self._at = self._line_end(start, min(start + size, self._end))
        if self._at - start > max(size, LONGEST_LINE):
            self._notes.at(line, f"longer than {LONGEST_LINE:,} bytes; skipped")
            return b"\n"
        data = self._read(start, self._at)
        return b"" if self._is_cut and not data.endswith(b"\n") else data

    def _line_end(self, start: int, stop: int) -> int:
        """Where the last line that ends before `stop` ends, or else the line that goes on there."""
        begin, reach = stop, 1 << 16
        while begin > start:
            begin = max(start, stop - reach)
            cut = self._read(begin, stop).rfind(b"\n")
            if cut >= 0:
                return begin + cut + 1
            reach *= 16
        while stop < self._end:
            cut = self._read(stop, stop + BLOCK_BYTES).find(b"\n")
            if cut >= 0:
                return stop + cut + 1
            stop += BLOCK_BYTES
        return self._end

    def _limit(self, size: int) -> None:
        if self._end - self._at > size:
            self._notes.say(f"only the first {size:,} of {self.size:,} bytes were read")
            self._end, self._is_cut = self._at + size, True

    def _replace(self, data: bytes) -> bytes:
        """Go on with converted data."""
        self._file = io.BytesIO(data)
        self._at, self._end = 0, len(data)
        return self.peek()

    def _read(self, start: int, stop: int) -> bytes:
        self._file.seek(start)
        return self._file.read(stop - start)


def split_blocks(segment: bytes) -> Iterator[bytes]:
    """Cut whole lines into blocks."""
    at = 0
    while at < len(segment):
        end = segment.find(b"\n", at + BLOCK_BYTES - 1) + 1 or len(segment)
        yield segment[at:end]
        at = end


@contextmanager
def open_lines(entry: Entry, notes: Notes, *, max_bytes: int) -> Iterator[Lines]:
    """The lines of a regular file. Raises OSError only."""
    with entry.open() as file:
        yield Lines(file, os.fstat(file.fileno()).st_size, notes, max_bytes=max_bytes)


def decode(block: bytes, line: int, notes: Notes) -> str:
    """Bytes as text: UTF-8, else Latin-1, which has a character for every byte."""
    if b"\0" in block:
        notes.at(line, "NUL bytes from here on were removed; the file may have been cut by a crash")
        block = block.replace(b"\0", b"")
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return block.decode(errors="ignore")
    notes.at(line, "bytes from here on are not UTF-8; read as Latin-1")
    return block.decode("latin-1")
