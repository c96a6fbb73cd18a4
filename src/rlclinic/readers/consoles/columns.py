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

from rlclinic.readers.axes import clock
from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows, read_number
from rlclinic.readers.return_names import is_return

ENOUGH_ROWS = 5
MAX_CELLS = 40
# Other output between two rows of one table.
MAX_FOREIGN_LINES = 5
_BARS = re.compile(r"[|│┃║]")
_RULER = re.compile(r"[\s|│┃║+\-=─━═┏┓┗┛┡┩┳┻╇┼╋├┤┬┴╞╡╪:]+")
_NAME = re.compile(r"[^\W\d][^|:={}\"]{0,40}")
_GAPS = re.compile(r"\s{2,}|\t")
_MISSING = frozenset({"", "-", "--", "None", "N/A", "n/a"})

Split = Callable[[str], list[str]]
SPLITS: tuple[Split, ...] = (
    lambda line: [cell.strip() for cell in _BARS.split(line.strip().strip("|│┃║"))],
    lambda line: _GAPS.split(line.strip()),
    lambda line: _BARS.sub(" ", line).split(),
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
    for split in SPLITS:
        names = split(lines[at])
        if 1 < len(names) <= MAX_CELLS and all(map(_NAME.fullmatch, names)) and any(map(is_return, names)):
            rows, end = _rows(lines, below, split, len(names))
            if len(rows) >= ENOUGH_ROWS:
                return _counted(names, rows), end
    return None, at + 1


def _rows(lines: Sequence[str], at: int, split: Split, width: int) -> tuple[list[tuple[int, list[float]]], int]:
    rows: list[tuple[int, list[float]]] = []
    foreign = 0
    while at < len(lines) and foreign <= MAX_FOREIGN_LINES:
        cells = split(lines[at])
        numbers = [float("nan") if cell in _MISSING else read_number(cell.rstrip("%")) for cell in cells]
        found = [value for value in numbers if value is not None]
        if len(found) == width == len(cells):
            rows.append((at + 1, found))
            foreign = 0
        else:
            foreign += 1
        at += 1
    return rows, at - foreign


def _counted(names: Sequence[str], rows: Sequence[tuple[int, list[float]]]) -> ConsoleRows | None:
    columns = dict(zip(names, np.array([values for _, values in rows]).T, strict=True))
    found = clock(columns)
    if found is None or len(columns) < len(names):
        return None
    name, axis = found
    placed = [
        ConsoleRow(int(values[name]), line, {key: value for key, value in values.items() if key != name})
        for line, numbers in rows
        if np.isfinite((values := dict(zip(names, numbers, strict=True)))[name])
    ]
    return console_rows("columns", axis, placed)
