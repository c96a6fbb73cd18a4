"""Builds a Table from runs of cells. A column is numeric if more than half of its cells are numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlclinic.readers.formats.table import Table
from rlclinic.readers.formats.table_cells import Cells, render_number
from rlclinic.readers.formats.table_notes import Notes

MAX_COLUMNS = 10_000  # the widest known log, RLlib with its config flattened, has about 2,000
MAX_CELLS = 1 << 27  # 1 GiB of float64: a short file must not be able to ask for more
MAX_TEXT_COLUMNS = 64
MAX_TEXT_CELLS = 1 << 23  # strings kept in all; a distinct one costs about 60 bytes
MAX_TEXT_LENGTH = 1 << 14  # characters of a cell; RLlib's config and info cells of 2018 have about 3,000
_SHOWN = 40  # characters of a cell or a name in a note

Where = slice | NDArray[np.intp]  # rows of the table that a run of cells fills


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive cells of a column, the rows they fill and the lines of the file they stand in."""

    name: str
    where: Where
    cells: Cells
    lines: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Part:
    where: Where
    values: NDArray[np.float64]
    missing: NDArray[np.bool_] | None
    texts: Sequence[str]  # every cell of the part as written, or none of them
    others: dict[int, str]  # else: those that are no numbers


class Column:
    """One column that grows run by run."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.filled = 0  # rows with a cell, empty or not
        self.present = 0  # cells that are not empty
        self.others = 0  # of these: cells that are not numbers
        self.first_other = (0, "")  # line and text
        self.plain = True  # see Cells.plain
        self._known: dict[str, str] = {}

    @property
    def is_text(self) -> bool:
        return self.others * 2 >= max(self.present, 1)

    def add(self, run: Run, *, keep_texts: bool) -> int:
        """Take a run of cells; returns how many strings were kept."""
        cells = run.cells
        empty = 0 if cells.missing is None else int(cells.missing.sum()) - len(cells.others)
        present = cells.values.size - empty
        if cells.others and not self.others:
            index = cells.others[0]
            self.first_other = (run.lines[index], cells.texts[index])
        texts: Sequence[str] = ()
        others: dict[int, str] = {}
        if not keep_texts:
            pass
        elif len(cells.others) * 2 >= present:
            texts = [self._keep(text) for text in cells.texts]
        else:
            others = {index: self._keep(cells.texts[index]) for index in cells.others}
        self.filled += cells.values.size
        self.present += present
        self.others += len(cells.others)
        self.plain = self.plain and cells.plain
        self.parts.append(_Part(run.where, cells.values, cells.missing, texts, others))
        return len(texts) + len(others)

    def numbers(self, rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
        """All values, and the mask of the gaps if there are any."""
        full = self.filled == rows
        values = np.empty(rows) if full else np.full(rows, np.nan)
        gaps = not full or any(part.missing is not None for part in self.parts)
        missing = np.full(rows, not full) if gaps else None
        for part in self.parts:
            values[part.where] = part.values
            if missing is not None:
                missing[part.where] = False if part.missing is None else part.missing
        values.setflags(write=False)
        if missing is not None:
            missing.setflags(write=False)
        return values, missing

    def texts(self, rows: int) -> tuple[str, ...]:
        """All cells as text, as written where that was kept."""
        texts = [""] * rows
        for part in self.parts:
            if isinstance(part.where, slice):
                positions: Sequence[int] = range(rows)[part.where]
            else:
                positions = part.where.tolist()
            for row, text in zip(positions, part.texts or _rendered(part), strict=True):
                texts[row] = text
        return tuple(texts)

    def forget_texts(self) -> None:
        """Give the strings back; the column can then only be numeric or left out."""
        self.parts = [_Part(p.where, p.values, p.missing, (), {}) for p in self.parts]
        self._known = {}

    def _keep(self, text: str) -> str:
        """One copy of each text: config and host columns have the same cell in every row."""
        known = self._known.get(text)
        if known is None:
            known = safe_text(text)
            if len(self._known) < 1000:
                self._known[text] = known
        return known


class TableBuilder:
    """Collects runs of cells by column name and makes the Table, within the limits above."""

    def __init__(self, notes: Notes) -> None:
        self.rows = 0
        self.full = False
        self.columns: dict[str, Column] = {}
        self._notes = notes
        self._texts_kept = 0
        self._texts_lost = False

    def reserve(self, names: Iterable[str]) -> None:
        """Make the columns known, in order, even if no cell follows."""
        for name in names:
            if name not in self.columns:
                if len(self.columns) == MAX_COLUMNS or self.rows * (len(self.columns) + 1) > MAX_CELLS:
                    self._notes.say("there are too many columns; some were left out")
                    return
                self.columns[name] = Column()

    def fits(self, rows: int) -> bool:
        """Whether this many further rows are within the limit of cells."""
        return (self.rows + rows) * len(self.columns) <= MAX_CELLS

    def add(self, rows: int, runs: Iterable[Run]) -> None:
        """Take further rows. What a run does not fill is a gap."""
        if self.full or not self.fits(rows):
            self.full = True
            self._notes.say(f"more than {MAX_CELLS:,} cells; only the first {self.rows:,} rows were read")
            return
        for run in runs:
            column = self.columns.get(run.name)
            if column is not None:
                self._texts_kept += column.add(run, keep_texts=not self._texts_lost)
        self.rows += rows
        if self._texts_kept > MAX_TEXT_CELLS and not self._texts_lost:
            self._texts_lost = True
            for column in self.columns.values():
                column.forget_texts()

    def table(self, comments: Sequence[str] = ()) -> Table:
        """The table of all that was added."""
        numbers, missing = {}, {}
        texts: dict[str, tuple[str, ...]] = {}
        for name, column in self.columns.items():
            if not column.is_text:
                numbers[name], mask = column.numbers(self.rows)
                column.parts = []
                if mask is not None and mask.any():
                    missing[name] = mask
                self._note_others(name, column)
            elif self._texts_lost or len(texts) == MAX_TEXT_COLUMNS:
                self._notes.say("there are too many text cells; some text columns were left out")
            else:
                texts[name] = column.texts(self.rows)
        columns = tuple(self.columns)
        return Table(columns, self.rows, numbers, missing, texts, tuple(comments), self._notes.lines())

    def _note_others(self, name: str, column: Column) -> None:
        if not column.others:
            return
        line, text = column.first_other
        more = f" ({column.others} such cells)" if column.others > 1 else ""
        shown = f"{safe_text(text)[:_SHOWN]!r} in column {name[:_SHOWN]!r}"
        self._notes.at(line, f"{shown} is not a number; read as a gap{more}")


def safe_text(text: str) -> str:
    """Text that can be encoded, of bounded length. JSON can escape half of a surrogate pair."""
    if len(text) > MAX_TEXT_LENGTH:
        text = text[: MAX_TEXT_LENGTH - 1] + "…"
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _rendered(part: _Part) -> list[str]:
    texts = [render_number(value) for value in part.values.tolist()]
    if part.missing is not None:
        texts = ["" if gap else text for text, gap in zip(texts, part.missing.tolist(), strict=True)]
    for index, text in part.others.items():
        texts[index] = text
    return texts
