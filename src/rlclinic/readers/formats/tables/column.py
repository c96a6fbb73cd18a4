"""One column of a table while it is being read. It is numeric if more than half of its cells are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.tables.cells import Cells, render_number, safe_text

KNOWN_TEXTS = 1000  # different texts of a column that are looked up to keep one copy of each

Where = slice | NDArray[np.intp]  # rows of the table that a run of cells fills


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive cells of a column, the rows they fill and the lines of the file they stand in."""

    name: str
    where: Where
    cells: Cells
    lines: Sequence[int]


class Column:
    """One column that grows run by run, in arrays with room for rows to come."""

    def __init__(self) -> None:
        self.present = 0  # cells that are not empty
        self.others = 0  # of these: cells that are not numbers
        self.first_other = (0, "")  # line and text
        self.plain = True  # see Cells.plain
        self._rows = 0  # rows of the arrays that are set
        self._values = np.empty(0)
        self._missing: NDArray[np.bool_] | None = None  # until the first gap
        self._words: list[tuple[Where, Sequence[str] | dict[int, str]]] = []  # all cells as written, or some
        self._known: dict[str, str] = {}

    @property
    def is_text(self) -> bool:
        return self.others * 2 >= max(self.present, 1)

    def add(self, run: Run, rows: int, room: int, *, keep_texts: bool) -> int:
        """Take a run of cells that ends within the first `rows` rows; returns how many strings were kept."""
        cells = run.cells
        if cells.others and not self.others:
            index = cells.others[0]
            self.first_other = (run.lines[index], cells.texts[index])
        empty = 0 if cells.missing is None else int(cells.missing.sum()) - len(cells.others)
        present = cells.values.size - empty
        self.present += present
        self.others += len(cells.others)
        self.plain = self.plain and cells.plain
        self._put(run.where, cells, rows, room)
        return self._keep_texts(run, present) if keep_texts and cells.others else 0

    def numbers(self, rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
        """All values, and the mask of the gaps if there are any."""
        self._grow(rows, rows)
        values, missing = self._values[:rows], self._missing
        values.setflags(write=False)
        if missing is not None:
            missing = missing[:rows]
            missing.setflags(write=False)
        return values, missing

    def texts(self, rows: int) -> tuple[str, ...]:
        """All cells as text, as written where that was kept."""
        values, missing = self.numbers(rows)
        texts = [""] * rows
        for row in np.flatnonzero(~missing if missing is not None else np.ones(rows, np.bool_)).tolist():
            texts[row] = render_number(float(values[row]))
        for where, words in self._words:
            positions = range(rows)[where] if isinstance(where, slice) else where.tolist()
            for index, word in words.items() if isinstance(words, dict) else enumerate(words):
                texts[positions[index]] = word
        return tuple(texts)

    def forget_texts(self) -> None:
        """Give the strings back; the column can then only be numeric or left out."""
        self._words, self._known = [], {}

    def _put(self, where: Where, cells: Cells, rows: int, room: int) -> None:
        if isinstance(where, slice):
            self._grow(where.start, room)
            self._reserve(rows, room)
            self._rows = rows
        else:
            self._grow(rows, room)
        self._values[where] = cells.values
        if cells.missing is not None and self._missing is None:
            self._missing = np.zeros(self._values.size, np.bool_)
        if self._missing is not None:
            self._missing[where] = False if cells.missing is None else cells.missing

    def _grow(self, rows: int, room: int) -> None:
        """Fill up with gaps."""
        if rows <= self._rows:
            return
        self._reserve(rows, room)
        if self._missing is None:
            self._missing = np.zeros(self._values.size, np.bool_)
        self._values[self._rows : rows] = np.nan
        self._missing[self._rows : rows] = True
        self._rows = rows

    def _reserve(self, rows: int, room: int) -> None:
        if rows <= self._values.size:
            return
        size = max(rows, 2 * self._values.size, room)
        self._values = _resized(self._values, size)
        if self._missing is not None:
            self._missing = _resized(self._missing, size)

    def _keep_texts(self, run: Run, present: int) -> int:
        texts, others = run.cells.texts, run.cells.others
        words: Sequence[str] | dict[int, str]
        if len(others) * 2 >= present:
            words = [self._keep(text) for text in texts]
        else:
            words = {index: self._keep(texts[index]) for index in others}
        self._words.append((run.where, words))
        return len(words)

    def _keep(self, text: str) -> str:
        """One copy of each text: config and host columns have the same cell in every row."""
        known = self._known.get(text)
        if known is None:
            known = safe_text(text)
            if len(self._known) < KNOWN_TEXTS:
                self._known[text] = known
        return known


_Item = TypeVar("_Item", np.float64, np.bool_)


def _resized(array: NDArray[_Item], size: int) -> NDArray[_Item]:
    """A copy with more room. The room costs no memory until something is written there."""
    larger = np.empty(size, array.dtype)
    larger[: array.size] = array
    return larger
