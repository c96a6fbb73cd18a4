"""Lines of a CSV file to records: which character separates the cells, and quotes that span lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlclinic.readers.formats.tables.cells import parse_number
from rlclinic.readers.formats.tables.notes import Notes

SPACES = " "  # stands for runs of spaces and tabs
DELIMITERS = (",", "\t", ";", "|")  # the first of equals wins
MAX_RECORD_LINES = 10_000  # numpy arrays printed into a cell of RLlib's progress.csv have hundreds of lines
MAX_RECORD_LENGTH = 1 << 22  # characters
MAX_CLOSINGS = 8  # tries to close a quote: every one reads the record again
MAX_STRAYS = 20  # stray quotes, each of which costs a search for its other end
_QUOTED = re.compile(r' *+"((?:[^"]++|"")*+)"')
_OPEN = re.compile(r' *+"')
_QUOTED_PART = re.compile(r'"[^"]*"')


def sniff_delimiter(lines: Sequence[str]) -> str:
    """The delimiter on which most of the lines agree with the first one."""
    bare = [_QUOTED_PART.sub("", line) for line in lines]
    best, score = "", (0, 0)
    for delimiter in DELIMITERS:
        count = bare[0].count(delimiter)
        agreeing = sum(line.count(delimiter) == count for line in bare)
        if count and (agreeing, count) > score:
            best, score = delimiter, (agreeing, count)
    return best or (SPACES if _spaces_separate(lines) else DELIMITERS[0])


def split_line(line: str, delimiter: str) -> list[str]:
    """The cells of a line without quotes."""
    return line.split() if delimiter == SPACES else line.split(delimiter)


class RecordSplitter:
    """Takes records from a list of lines. A quote that never closes is taken as a character of its cell."""

    def __init__(self, delimiter: str, notes: Notes) -> None:
        self.delimiter = delimiter
        self._notes = notes
        self._strays = 0

    def take(self, lines: Sequence[str], at: int, line: int) -> tuple[list[str], int] | None:
        """The record that begins at lines[at] and where the next one begins; None if it needs more lines."""
        text = lines[at]
        if text.startswith("#"):
            return [text], at + 1  # a comment; its quotes and delimiters are its own
        if '"' not in text or self.delimiter == SPACES or self._strays > MAX_STRAYS:
            return split_line(text, self.delimiter), at + 1
        cells = _split_quoted(text, self.delimiter)
        if cells is not None:
            return cells, at + 1
        closings, length = 0, len(text)
        for end in range(at + 1, len(lines)):
            length += len(lines[end])
            if length > MAX_RECORD_LENGTH or end - at > MAX_RECORD_LINES or closings == MAX_CLOSINGS:
                return self.literal(text, line), at + 1
            if lines[end].count('"') % 2:
                closings += 1
                cells = _split_quoted("\n".join(lines[at : end + 1]), self.delimiter)
                if cells is not None:
                    return cells, end + 1
        return None

    def literal(self, text: str, line: int) -> list[str]:
        """The cells of a line whose quotes mean nothing."""
        self._strays += 1
        self._notes.at(line, "a quote is opened and never closed; taken as it stands")
        return split_line(text, self.delimiter)


def _split_quoted(text: str, delimiter: str) -> list[str] | None:
    """The cells of a record with quotes, or None if a quote is still open at its end."""
    cells: list[str] = []
    at = 0
    while True:
        quoted = _QUOTED.match(text, at)
        if quoted is None and _OPEN.match(text, at):
            return None
        end = text.find(delimiter, at if quoted is None else quoted.end())
        stop = len(text) if end < 0 else end
        if quoted is None:
            cells.append(text[at:stop])
        else:
            cells.append(quoted[1].replace('""', '"') + text[quoted.end() : stop].rstrip(" "))
        if end < 0:
            return cells
        at = end + 1


def _spaces_separate(lines: Sequence[str]) -> bool:
    widths = {len(line.split()) for line in lines}
    if len(widths) != 1 or widths == {1}:
        return False
    return len(lines) > 1 or all(parse_number(cell) is not None for cell in lines[0].split())
