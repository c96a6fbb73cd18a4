"""The bytes of a text file: bounded reading, encodings, NUL bytes, and cutting into blocks of whole lines."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from pathlib import Path

from rlclinic.readers.formats.table_notes import Notes

MAX_BYTES = 1 << 30  # read of one file; logs of long runs stay below it, and it fits in memory several times
FAST_BYTES = 8 << 20  # from here on reading takes longer than importing polars (0.37 s)
BLOCK_BYTES = 1 << 20  # converted at a time: large enough for bulk conversion, small beside the result
LONGEST_LINE = 1 << 24  # bytes; a longer "line" is binary data or a zero-filled tail


def read_bounded(path: Path, max_bytes: int, notes: Notes) -> bytes:
    """The first `max_bytes` of a regular file, cut after a whole line. Raises OSError only."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        data = file.read(min(status.st_size, max_bytes))
    if status.st_size <= max_bytes:
        return data
    notes.say(f"only the first {max_bytes:,} of {status.st_size:,} bytes were read")
    return data[: data.rfind(b"\n") + 1]


def unify(data: bytes) -> tuple[bytes, int]:
    """The data in an ASCII-like encoding with newlines, and where it starts after a byte order mark."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "ignore").encode()
    head = data[:BLOCK_BYTES]
    if b"\r" in head and b"\n" not in head:
        data = data.replace(b"\r", b"\n")
    return data, len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0


def block_end(data: bytes, start: int) -> int:
    """Where the block of whole lines that begins at `start` ends."""
    end = start + BLOCK_BYTES
    if end >= len(data):
        return len(data)
    cut = data.rfind(b"\n", start, end)
    if cut < 0:
        cut = data.find(b"\n", end)
    return len(data) if cut < 0 else cut + 1


def text_of(block: bytes, line: int, notes: Notes) -> str:
    """A block of lines as text; a line that is too long is left empty."""
    if len(block) > LONGEST_LINE:
        notes.at(line, f"longer than {LONGEST_LINE:,} bytes; skipped")
        return "\n" if block.endswith(b"\n") else ""
    return decode(block, line, notes)


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
