"""Tables in a text: a line of names, then lines of as many numbers, ruled, boxed or merely aligned.

    | Episode | Reward |      Episode     Reward     Loss        ID     Step   Time |    avgR   stdR
    |---------|--------|            0      11.00   0.0123        0  1.10e+03      2 |   18.90    4.1
    |       0 |   11.0 |            1      14.00   0.0121        0  2.20e+03      4 |   24.30    6.0

Only a table that counts something and says a return is a log: others are results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from rlclinic.readers.axes import clock, counted
from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows, read_number
from rlclinic.readers.return_names import is_full, is_return

ENOUGH_ROWS = 5
# The same of a table with a ruler below its names, which prose has not.
ENOUGH_RULED = 3
MAX_CELLS = 40
# Other output between two rows of one table.
MAX_FOREIGN_LINES = 5
_BARS = re.compile(r"[|│┃║]")
_RULER = re.compile(r"[\s|│┃║+\-=─━═┏┓┗┛┡┩┳┻╇┼╋├┤┬┴╞╡╪:]+")
_NAME = re.compile(r"[^\W\d][^|:={}\"]{0,40}")
_GAPS = re.compile(r"\s{2,}|\t")
_MISSING = frozenset({"", "-", "--", "—", "–", "None", "N/A", "n/a"})
# Numbers as people write them into a report: `**+1,820** (best)`, `~ -4.5`, `60K`, `22.2s`.
_WRITTEN = re.compile(r"[~≈+\s]*([-−]?[\d,]+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?)\s?([kKM]?)(?:s|%|x|×)?(?:\s?\(.{0,40}\))?")
_TIMES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}

Split = Callable[[str], list[str]]
Row = tuple[int, list[float | None]]
"""The line of a row, and its cells; None where one is empty or a word."""
SPLITS: tuple[Split, ...] = (
    lambda line: [cell.strip() for cell in _BARS.split(line.strip().strip("|│┃║"))],
    lambda line: _GAPS.split(line.strip()),
    lambda line: _BARS.sub(" ", line).split(),
    lambda line: [cell.strip() for cell in re.split("[;,]", line)],
)


def parse_columns(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of the longest table that counts something and says a return."""
    best: ConsoleRows | None = None
    at = 0
    while at < len(lines):
        found, at = _table(lines, at)
        if found is not None and (best is None or len(found.rows) > len(best.rows)):
            best = found
    return () if best is None else (best,)


def _table(lines: Sequence[str], at: int) -> tuple[ConsoleRows | None, int]:
    """The table whose names stand in a line, and where to look on."""
    below = next((n for n in range(at + 1, min(at + 3, len(lines))) if not _RULER.fullmatch(lines[n])), None)
    if below is None or not any(map(str.isdigit, lines[below])):
        return None, at + 1
    ruled = below > at + 1 and ("+" in lines[at + 1] or _BARS.search(lines[at + 1]) is not None)
    for split in SPLITS[:1] if ruled else SPLITS:
        names = [cell.strip("*`_ ") for cell in split(lines[at])] if ruled else split(lines[at])
        named = all(names) if ruled else all(map(_NAME.fullmatch, names))
        if 1 < len(names) <= MAX_CELLS and named and any(map(_tells, names)):
            rows, end = _rows(lines, below, split, names, written=ruled)
            if len(rows) >= (1 if ruled and is_full(names) else ENOUGH_RULED if ruled else ENOUGH_ROWS):
                return _counted(names, rows), end
    return None, at + 1


def _tells(name: str) -> bool:
    return is_return(name) or counted(name) == "episodes"


def _rows(lines: Sequence[str], at: int, split: Split, names: Sequence[str], *, written: bool) -> tuple[list[Row], int]:
    """The rows from a line on; in a written table some cells are words, and behind `etc.` others stand."""
    width, open_end = len(names), names[-1] == "etc."
    rows: list[Row] = []
    foreign = 0
    while at < len(lines) and foreign <= MAX_FOREIGN_LINES:
        cells = split(lines[at])[: width if open_end else None]
        numbers = list(map(_written if written else _printed, cells))
        found = sum(value is not None for value in numbers)
        gaps = sum(cell in _MISSING for cell in cells)
        if width == len(cells) and (found + gaps == width or (written and found > 1)):
            rows.append((at + 1, numbers))
            foreign = 0
        else:
            foreign += 1
        at += 1
    return rows, at - foreign


def _printed(cell: str) -> float | None:
    return read_number(cell.rstrip("%"))


def _written(cell: str) -> float | None:
    """The number of a cell that a person wrote; None for words."""
    bare = cell.replace("*", "").replace("`", "").strip()
    found = _WRITTEN.fullmatch(bare)
    if found is None:
        return _printed(bare)
    number = read_number(found[1].replace(",", "").replace("−", "-"))
    return None if number is None else number * _TIMES[found[2]]


def _counted(names: Sequence[str], rows: Sequence[Row]) -> ConsoleRows | None:
    table = np.array([values for _, values in rows], dtype=np.float64)
    columns = {name: column for name, column in zip(names, table.T, strict=True) if np.isfinite(column).any()}
    found = clock(columns)
    if found is None or len(set(names)) < len(names):
        return None
    name, axis = found
    placed: list[ConsoleRow] = []
    for line, numbers in rows:
        values = {key: value for key, value in zip(names, numbers, strict=True) if value is not None}
        at = values.pop(name, float("nan"))
        if np.isfinite(at):
            placed.append(ConsoleRow(int(at), line, values))
    return console_rows("columns", axis, placed)
