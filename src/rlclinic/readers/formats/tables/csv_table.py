"""CSV, TSV and their relatives, as training programs leave them: torn, appended to, with repeated headers.

Blocks of clean lines are converted in bulk. Only a block that needs care goes row by row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import zip_longest
from operator import methodcaller

import numpy as np

from rlclinic.readers.formats.tables import csv_header as headers
from rlclinic.readers.formats.tables.builder import MAX_COLUMNS, TableBuilder
from rlclinic.readers.formats.tables.cells import Cells, convert_texts, parse_number, safe_text
from rlclinic.readers.formats.tables.column import Run
from rlclinic.readers.formats.tables.csv_polars import read_segment
from rlclinic.readers.formats.tables.csv_records import SPACES, RecordSplitter, sniff_delimiter, split_line
from rlclinic.readers.formats.tables.file_bytes import (
    FAST_BYTES,
    MAX_BYTES,
    Lines,
    decode,
    open_lines,
    split_blocks,
)
from rlclinic.readers.formats.tables.notes import Notes
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.place import Entry

__all__ = ["parse_number", "read_csv", "read_csv_file"]

MAX_COMMENTS = 100
SAMPLE_LINES = 20  # looked at to find the delimiter
MAX_REFUSALS = 3  # segments in a row that polars cannot read before it is no longer tried
FLUSH_CELLS = 1 << 20  # cells held as text while rows are taken one by one
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")


def read_csv(data: bytes, *, delimiter: str | None = None, header: Sequence[str] | None = None) -> Table:
    """Read a table from bytes.

    Args:
        data: The content of the file. Any bytes are accepted; what cannot be read is noted in `problems`.
        delimiter: One character; a space stands for runs of spaces. By default it is found out.
        header: The column names of a file that has no header line.

    Raises:
        ValueError: The delimiter is not one character.
    """
    notes = Notes()
    return _Reader(delimiter, header, notes).read(Lines.of(data, notes), is_large=False)


def read_csv_file(
    entry: Entry,
    *,
    delimiter: str | None = None,
    header: Sequence[str] | None = None,
    max_bytes: int = MAX_BYTES,
    fast_bytes: int = FAST_BYTES,
) -> Table:
    """Read a table from a file, with polars if it is installed and the file has at least `fast_bytes`.

    The result is the same with and without polars. Raises OSError, and ValueError for a delimiter that is not
    one character.
    """
    notes = Notes()
    reader = _Reader(delimiter, header, notes)
    with open_lines(entry, notes, max_bytes=max_bytes) as lines:
        return reader.read(lines, is_large=lines.size >= fast_bytes)


class _Reader:
    """The state of reading one file: where it is, under which header, and the rows not yet converted."""

    def __init__(self, delimiter: str | None, header: Sequence[str] | None, notes: Notes) -> None:
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ValueError(f"a delimiter is one character, not {delimiter!r}")
        self.notes = notes
        self.builder = TableBuilder(notes)
        self.delimiter = delimiter
        self.given = header
        self.comments: list[str] = []
        self.splitter = RecordSplitter(delimiter or SPACES, notes)
        self.header: headers.Header | None = None
        self.decimal_comma = False
        self.line = 1  # of the first line not yet taken
        self.rows: list[list[str]] = []
        self.row_lines: list[int] = []

    def read(self, source: Lines, *, is_large: bool) -> Table:
        carry = ""
        refusals = 0 if is_large else MAX_REFUSALS
        while not self.builder.full and (segment := source.take(self.line)):
            try_polars = refusals < MAX_REFUSALS and self.header is not None and not carry and not self.decimal_comma
            if try_polars and self._take_segment(segment):
                refusals = 0
                continue
            refusals += try_polars
            for block in split_blocks(segment):
                if self.builder.full:
                    break
                text = carry + _unix_lines(decode(block, self.line, self.notes))
                carry = self._take_block(text, final=not block.endswith(b"\n"))
            self.builder.expect(source.share)
        if carry:
            self._take_block(carry, final=True)
        if self.header is None and self.given is not None:
            self._start_header(headers.Header.of(self.given))
        elif self.header is None:
            self.notes.say("there is no table in the file")
        return self.builder.table(self.comments)

    def _with_points(self, text: str) -> str:
        """Spreadsheets of half the world write 0,5 and put semicolons between the cells."""
        if self.header is None and self.delimiter is None:
            first, _, rest = text.partition("\n")
            commas = ";" in first and "," not in first and _DECIMAL_COMMA.search(rest) is not None
            self.decimal_comma = commas and "." not in rest
        return _DECIMAL_COMMA.sub(".", text) if self.decimal_comma else text

    def _take_segment(self, segment: bytes) -> bool:
        """Take lines with polars if it is there and reads them as we would."""
        names = self._header().names
        known = [self.builder.columns.get(name) for name in names]
        plain = [column is not None and column.plain for column in known]
        columns = read_segment(segment, plain, self.splitter.delimiter)
        if columns is None or not self.builder.fits(columns[0].values.size):
            return False
        rows = columns[0].values.size
        self._add(columns, range(self.line, self.line + rows))
        self.line += rows
        return True

    def _take_block(self, text: str, *, final: bool) -> str:
        """Take all lines of the block; returns the text of a record that goes on in the next one."""
        lines = self._with_points(text).split("\n")
        partial = final and lines[-1] != ""
        if lines[-1] == "":
            lines.pop()
        at = 0
        if self.header is None:
            at = self._take_preamble(lines, final=final)
            if at < 0:
                return text
            if partial and at == len(lines) and self.header is not None:
                self.notes.say("the header has no line end; its last name may be cut short")
        whole = lines[at : len(lines) - partial]
        if whole and not self._take_clean(whole):
            return self._take_rows(lines[at:], final=final, partial=partial)
        if partial and at < len(lines):
            self._take_rows(lines[-1:], final=True, partial=True)
        return ""

    def _take_preamble(self, lines: Sequence[str], *, final: bool) -> int:
        """Comments and the header: the index of the first row, or -1 if the header needs more lines."""
        at, before = 0, len(self.comments)
        while at < len(lines) and (not lines[at].strip() or lines[at].startswith("#")):
            self._take_comment(lines[at])
            at += 1
        if at == len(lines):
            self.line += at
            return at
        sample = [line for line in lines[at : at + SAMPLE_LINES] if line.strip()]
        delimiter = self.delimiter or sniff_delimiter(sample[:-1] or sample)
        self.splitter = RecordSplitter(delimiter, self.notes)
        record = self.splitter.take(lines, at, self.line + at)
        if record is None and not final:
            del self.comments[before:]
            return -1
        cells, after = record or (self.splitter.literal(lines[at], self.line + at), at + 1)
        if len(cells) > MAX_COLUMNS:
            self.notes.say("there are too many columns; some were left out")
        cells = cells[:MAX_COLUMNS]
        header, is_row = headers.choose(cells, self.given, self.comments, delimiter, self.notes)
        self._start_header(header)
        at = at if is_row else after
        self.line += at
        return at

    def _take_clean(self, lines: Sequence[str]) -> bool:
        """Convert the lines in bulk if every one of them is a plain row of the table."""
        names, delimiter = self._header().names, self.splitter.delimiter
        text = "\n".join(lines)
        if len(names) < 2 or delimiter == SPACES or '"' in text or text.startswith("#") or "\n#" in text:
            return False
        if set(map(methodcaller("count", delimiter), lines)) != {len(names) - 1}:
            return False
        has_gaps = any(gap in f"\n{text}\n" for gap in (delimiter * 2, f"\n{delimiter}", f"{delimiter}\n"))
        columns = _convert_grid(lines, delimiter, len(names), may_be_plain=not has_gaps)
        if all(cells.others for cells in columns):
            return False  # a header may be among them
        self._add(columns, range(self.line, self.line + len(lines)))
        self.line += len(lines)
        return True

    def _take_rows(self, lines: Sequence[str], *, final: bool, partial: bool) -> str:
        at = 0
        while at < len(lines) and not self.builder.full:
            line = self.line + at
            record = self.splitter.take(lines, at, line)
            if record is None and not final:
                break
            if record is None and self._is_torn(lines[at + 1 :]):
                self.notes.at(line, "torn last row dropped (a quote is still open)")
                at = len(lines)
                break
            cells, after = record or (self.splitter.literal(lines[at], line), at + 1)
            following = lines[after] if after < len(lines) else ""
            self._take_row(cells, line, following, torn=partial and after == len(lines))
            at = after
        self._flush()
        self.line += at
        return "".join(f"{line}\n" for line in lines[at:])

    def _take_row(self, cells: list[str], line: int, following: str, *, torn: bool) -> None:
        header = self._header()
        width = len(header.names)
        if len(cells) < 2 and not any(map(str.strip, cells)):
            return
        if cells[0].startswith("#"):
            self.notes.at(line, "comment between the rows")
            self._take_comment(cells[0])
        elif header.is_repeated_by(cells):
            self.notes.at(line, "repeats the header; skipped")
        elif self._is_new_header(cells, following):
            self._flush()
            self.notes.at(line, "a different header; the rows below are read under it")
            self._start_header(headers.Header.of(cells))
        elif torn and len(cells) < width:
            self.notes.at(line, f"torn last row dropped ({len(cells)} of {width} cells)")
        else:
            self._note_shape(cells, width, line, torn=torn)
            self._keep_row(cells[:width], line)

    def _note_shape(self, cells: Sequence[str], width: int, line: int, *, torn: bool) -> None:
        if torn:
            self.notes.at(line, "the last row has no line end; its last cell may be cut short")
        if len(cells) < width:
            self.notes.at(line, "fewer cells than the header; the rest are gaps")
        elif any(map(str.strip, cells[width:])):
            self.notes.at(line, "more cells than the header; the extra ones were left out")

    def _keep_row(self, cells: list[str], line: int) -> None:
        self.rows.append(cells)
        self.row_lines.append(line)
        if len(self.rows) * len(self._header().names) >= FLUSH_CELLS:
            self._flush()

    def _flush(self) -> None:
        if self.rows:
            columns = zip_longest(*self.rows, fillvalue="")
            self._add([convert_texts(cells) for cells in columns], self.row_lines)
        self.rows, self.row_lines = [], []

    def _add(self, columns: Sequence[Cells], lines: Sequence[int]) -> None:
        where = slice(self.builder.rows, self.builder.rows + len(lines))
        names = self._header().names
        runs = [Run(name, where, cells, lines) for name, cells in zip(names, columns, strict=False)]
        self.builder.add(len(lines), runs)

    def _is_torn(self, following: Sequence[str]) -> bool:
        """Whether a quote that is open at the end of the file was cut off: no line below looks like a row."""
        width = len(self._header().names)
        return not any(len(split_line(line, self.splitter.delimiter)) == width for line in following)

    def _is_new_header(self, cells: Sequence[str], following: str) -> bool:
        if not headers.are_names(cells) or not self._has_numbers():
            return False
        if any(cell.strip() in self.builder.columns for cell in cells):
            return True
        below = split_line(following, self.splitter.delimiter)
        return 1 < len(cells) == len(below) != len(self._header().names) and headers.has_number(below)

    def _has_numbers(self) -> bool:
        if self.rows:
            return headers.has_number(self.rows[-1])
        return any(column.present > column.others for column in self.builder.columns.values())

    def _start_header(self, header: headers.Header) -> None:
        self.header = header
        self.builder.reserve(header.names)

    def _header(self) -> headers.Header:
        assert self.header is not None
        return self.header

    def _take_comment(self, line: str) -> None:
        text = line.lstrip("#").strip()
        if text and len(self.comments) < MAX_COMMENTS:
            self.comments.append(safe_text(text))


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _convert_grid(lines: Sequence[str], delimiter: str, width: int, *, may_be_plain: bool) -> list[Cells]:
    """The columns of lines that all have `width` cells; at once where all of them are numbers."""
    if may_be_plain:
        with suppress(ValueError):
            return [Cells(column) for column in np.loadtxt(lines, comments=None, delimiter=delimiter, ndmin=2).T]
    cells = delimiter.join(lines).split(delimiter)
    return [convert_texts(cells[column::width]) for column in range(width)]
