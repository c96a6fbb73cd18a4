"""JSON lines: one object per line, nested objects flattened with "/", lists left out.

Also takes a top-level array of objects. Integers, floats, truth values and the words for non-finite numbers are
numbers; any other string is text, even if it looks like a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import numpy as np

from rlclinic.readers.formats.tables.builder import TableBuilder
from rlclinic.readers.formats.tables.cells import convert_values, safe_text
from rlclinic.readers.formats.tables.column import Run, Where
from rlclinic.readers.formats.tables.file_bytes import (
    FAST_BYTES,
    MAX_BYTES,
    Lines,
    decode,
    open_lines,
    split_blocks,
)
from rlclinic.readers.formats.tables.json_polars import Schema
from rlclinic.readers.formats.tables.notes import Notes
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.place import Entry

MAX_DEPTH = 16  # levels of objects; the deepest known log, RLlib's, has six
MAX_REFUSALS = 3  # segments in a row that polars cannot read before it is no longer tried
FLUSH_CELLS = 1 << 18  # values held as Python objects
FLUSH_TABLE = 1 << 22  # cells of the table that these values may spread over
MAX_OBJECT = 1 << 26  # bytes parsed at once, to tell a single object from broken lines
_SPACE = " \t\r\n"
_BETWEEN = re.compile(r"[ \t\r\n,]*+")
_DECODER = json.JSONDecoder(parse_int=float, strict=False)  # float() has no limit on the number of digits


def read_json_lines(data: bytes) -> Table:
    """Read a table from bytes. Any bytes are accepted; what cannot be read is noted in `problems`."""
    notes = Notes()
    return _Reader(notes).read(Lines.of(data, notes), is_large=False)


def read_json_lines_file(entry: Entry, *, max_bytes: int = MAX_BYTES, fast_bytes: int = FAST_BYTES) -> Table:
    """Read a table from a file, with polars if it is installed and the file has at least `fast_bytes`.

    The result is the same with and without polars. Raises OSError only.
    """
    notes = Notes()
    with open_lines(entry, notes, max_bytes=max_bytes) as lines:
        return _Reader(notes).read(lines, is_large=lines.size >= fast_bytes)


def looks_like_json_lines(head: bytes) -> bool:
    """Whether a file that begins with `head` has an object in its first line."""
    text = Lines.of(head, Notes()).take_all().decode("utf-8", "replace").lstrip(_SPACE)
    line, newline, _ = text.partition("\n")
    if _load(line) is not None:
        return True
    return not newline and text.startswith('{"')  # a line longer than the head


class _Reader:
    """The state of reading one file: where it is and the rows not yet converted, by their keys."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.builder = TableBuilder(notes)
        self.line = 1  # of the first line not yet taken
        self.lines: list[int] = []
        self.cells = 0
        self.groups: dict[tuple[str, ...], tuple[list[int], list[tuple[object, ...]]]] = {}
        self.schema = Schema(MAX_DEPTH)

    def read(self, source: Lines, *, is_large: bool) -> Table:
        head = source.peek().lstrip()
        if head.startswith(b"["):
            self._read_array(decode(source.take_all(), 1, self.notes))
        elif source.size <= MAX_OBJECT and _may_be_one_object(head):
            data = source.take_all()
            if _load(decode(data, 1, Notes())) is not None:
                self.notes.say("one JSON object over several lines, not JSON lines")
            else:
                self._read_lines(Lines.of(data, self.notes), is_large=is_large)
        else:
            self._read_lines(source, is_large=is_large)
        self._flush()
        if not self.builder.rows:
            self.notes.say("there is no row in the file")
        return self.builder.table()

    def _read_lines(self, source: Lines, *, is_large: bool) -> None:
        refusals = 0 if is_large else MAX_REFUSALS
        is_first = True
        while not self.builder.full and (segment := source.take(self.line)):
            try_polars = refusals < MAX_REFUSALS and not is_first
            if try_polars and self._take_segment(segment):
                refusals = 0
                continue
            refusals += try_polars
            for block in split_blocks(segment):
                self._take_block(decode(block, self.line, self.notes), learn=refusals < MAX_REFUSALS)
            self.builder.expect(source.share)
            is_first = False

    def _take_block(self, text: str, *, learn: bool) -> None:
        lines = text.split("\n")
        last = lines.pop()
        for line in lines:
            row = _load(line)
            if row is not None:
                self._take_row(row)
                if learn:
                    self.schema.learn(row)
            elif line.strip(_SPACE):
                self.notes.at(self.line, "not a JSON object; skipped")
            self.line += 1
        row = _load(last)
        if row is not None:
            self._take_row(row)
        elif last.strip(_SPACE):
            self.notes.at(self.line, "torn last line dropped")

    def _take_segment(self, segment: bytes) -> bool:
        """Take lines with polars if it is there and reads them as we would."""
        self._flush()
        columns = self.schema.read(segment)
        if not columns or not set(columns) <= set(self.builder.columns):
            return False
        rows = next(iter(columns.values())).values.size
        if not self.builder.fits(rows):
            return False
        where = slice(self.builder.rows, self.builder.rows + rows)
        lines = range(self.line, self.line + rows)
        self.builder.add(rows, [Run(name, where, cells, lines) for name, cells in columns.items()])
        self.line += segment.count(b"\n")
        return True

    def _take_row(self, row: Mapping[str, object]) -> None:
        if not {dict, list}.isdisjoint(map(type, row.values())):
            flat: dict[str, object] = {}
            self._flatten(row, "", 1, flat)
            row = flat
        rows, values = self.groups.setdefault(tuple(row), ([], []))
        rows.append(len(self.lines))
        values.append(tuple(row.values()))
        self.lines.append(self.line)
        self.cells += len(row) + 1
        width = len(self.builder.columns) + len(self.groups)
        if self.cells >= FLUSH_CELLS or len(self.lines) * width >= FLUSH_TABLE:
            self._flush()

    def _flatten(self, node: Mapping[str, object], prefix: str, depth: int, flat: dict[str, object]) -> None:
        for key, value in node.items():
            kind = type(value)
            if kind is not dict and kind is not list:
                flat[prefix + key] = value
            elif isinstance(value, dict) and depth < MAX_DEPTH:
                self._flatten(value, f"{prefix}{key}/", depth + 1, flat)
            elif isinstance(value, dict):
                self.notes.at(self.line, f"objects nested deeper than {MAX_DEPTH} levels were left out")

    def _flush(self) -> None:
        runs: list[Run] = []
        for keys, (rows, values) in self.groups.items():
            columns = dict(zip(map(safe_text, keys), zip(*values, strict=True), strict=True))
            self.builder.reserve(columns)
            where: Where = np.array(rows) + self.builder.rows
            if len(rows) == len(self.lines):
                where = slice(self.builder.rows, self.builder.rows + len(rows))
            lines = [self.lines[row] for row in rows]
            runs += [Run(name, where, convert_values(cells), lines) for name, cells in columns.items()]
        self.builder.add(len(self.lines), runs)
        self.lines, self.cells, self.groups = [], 0, {}

    def _read_array(self, text: str) -> None:
        at = text.index("[") + 1
        counted = 0
        while not self.builder.full:
            at = _skip(text, at, _BETWEEN)
            self.line += text.count("\n", counted, at)
            counted = at
            if at == len(text) or text[at] == "]":
                break
            try:
                row, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                self.notes.at(self.line, "not valid JSON; the rest of the array was left out")
                return
            if isinstance(row, dict):
                self._take_row(row)
            else:
                self.notes.at(self.line, "an element of the array is not an object; skipped")
        if at == len(text):
            self.notes.say("the array is not closed; the file may be cut off")
        elif _skip(text, at + 1, _BETWEEN) < len(text):
            self.notes.at(self.line, "there is more text after the array; left out")


def _may_be_one_object(head: bytes) -> bool:
    """Whether the file begins with an object that does not end in its first line."""
    first, newline, _ = head.partition(b"\n")
    return bool(newline) and first.startswith(b"{") and _load(first.decode("utf-8", "replace")) is None


def _load(line: str) -> dict[str, object] | None:
    """The object in a line, or None."""
    text = line.strip(_SPACE)
    if not text.startswith("{"):
        return None
    try:
        row, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return row if end == len(text) and isinstance(row, dict) else None


def _skip(text: str, at: int, characters: re.Pattern[str]) -> int:
    match = characters.match(text, at)
    return at if match is None else match.end()
