"""A text file as blocks of whole lines: bounded reading, encodings, NUL bytes, lines without end."""

from __future__ import annotations

import codecs
import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rlclinic.readers.formats.table_notes import Notes

MAX_BYTES = 1 << 31  # read of one file; the table made of it has a limit of its own
FAST_BYTES = 8 << 20  # from here on reading takes longer than importing polars (0.37 s)
BLOCK_BYTES = 1 << 20  # converted at a time: large enough for bulk conversion, small beside the result
SEGMENT_BYTES = 32 << 20  # read at a time and handed to polars: enough to keep its threads busy
MAX_WHOLE = 1 << 28  # bytes of a file that cannot be read piece by piece: UTF-16, old Mac line ends, JSON arrays
LONGEST_LINE = 1 << 24  # bytes; a longer "line" is binary data or a zero-filled tail


class Lines:
    """Blocks of whole lines, in an ASCII-like encoding with newlines, from an open file."""

    def __init__(self, file: BinaryIO, size: int, notes: Notes, *, max_bytes: int = MAX_BYTES) -> None:
        self.size = size
        self._file = file
        self._notes = notes
        self._left = min(size, max_bytes)
        self._is_cut = size > max_bytes
        if self._is_cut:
            notes.say(f"only the first {max_bytes:,} of {size:,} bytes were read")
        head = self._read(BLOCK_BYTES)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            head = self._whole(head).decode("utf-16", "ignore").encode()
        if b"\r" in head[:BLOCK_BYTES] and b"\n" not in head[:BLOCK_BYTES]:
            head = self._whole(head).replace(b"\r", b"\n")
        self._head = io.BytesIO(head.removeprefix(codecs.BOM_UTF8))
        self._rest = b""  # the beginning of a line
        self._is_begun = False

    @classmethod
    def of(cls, data: bytes, notes: Notes) -> Lines:
        return cls(io.BytesIO(data), len(data), notes)

    def peek(self) -> bytes:
        """The beginning of the file. Only before anything is taken."""
        return self._head.getvalue()[:BLOCK_BYTES]

    def take_all(self) -> bytes:
        """The whole file. Only before anything is taken."""
        return self._whole(self._head.read())

    def take(self, line: int) -> bytes:
        """The lines from number `line` on: a block at first, then segments; empty at the end of the file.

        They end with a line end, except for the last ones if the file does not.
        """
        size = SEGMENT_BYTES if self._is_begun else BLOCK_BYTES
        self._is_begun = True
        parts, length = [self._rest], len(self._rest)
        chunk = self._more(size)
        while chunk and b"\n" not in chunk:
            length += len(chunk)
            if length <= LONGEST_LINE:
                parts.append(chunk)
            chunk = self._more(size)
        at_end = not chunk
        first = chunk.find(b"\n") + 1
        if length + first > LONGEST_LINE:
            self._notes.at(line, f"longer than {LONGEST_LINE:,} bytes; skipped")
            parts, chunk = [chunk[first - 1 : first]], chunk[first:]
        cut = chunk.rfind(b"\n") + 1
        self._rest = chunk[cut:]
        if at_end and self._is_cut:
            return b""  # the last line was torn by the limit, not by its writer
        return b"".join([*parts, chunk[:cut]])

    def _whole(self, head: bytes) -> bytes:
        """The file in memory, for what cannot be read piece by piece."""
        if self._left > MAX_WHOLE:
            self._notes.say(f"only the first {MAX_WHOLE:,} bytes were read")
            self._left, self._is_cut = MAX_WHOLE, True
        return head + self._read(self._left)

    def _more(self, size: int) -> bytes:
        return self._head.read(size) or self._read(size)

    def _read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data


def split_blocks(segment: bytes) -> Iterator[bytes]:
    """Cut whole lines into blocks."""
    at = 0
    while at < len(segment):
        end = segment.find(b"\n", at + BLOCK_BYTES - 1) + 1 or len(segment)
        yield segment[at:end]
        at = end


@contextmanager
def open_lines(path: Path, notes: Notes, *, max_bytes: int) -> Iterator[Lines]:
    """The lines of a regular file. Raises OSError only."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # opening a pipe would wait for a writer
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
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
