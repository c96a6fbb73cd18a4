"""Builds a Table from runs of cells, within limits on its size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rlclinic.readers.formats.tables.cells import safe_text
from rlclinic.readers.formats.tables.column import Column, Run
from rlclinic.readers.formats.tables.notes import Notes
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.redaction.redact import redacted_head

MAX_COLUMNS = 10_000  # the widest known log, RLlib with its config flattened, has about 2,000
MAX_CELLS = 1 << 27  # 1 GiB of float64: a short file must not be able to ask for more
MAX_TEXT_COLUMNS = 64
MAX_TEXT_CELLS = 1 << 23  # strings kept in all; a distinct one costs about 60 bytes
_SHOWN = 40  # characters of a cell or a name in a note


class TableBuilder:
    """Collects runs of cells by column name and makes the Table, within the limits above."""

    def __init__(self, notes: Notes) -> None:
        self.rows = 0
        self.full = False
        self._room = 0  # rows to expect in all
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

    def expect(self, share: float) -> None:
        """Make room for all rows, given the share of the file that has been read: that saves copies."""
        if not self._room and share:
            self._room = int(1.05 * self.rows / share)

    def fits(self, rows: int) -> bool:
        """Whether this many further rows are within the limit of cells."""
        return (self.rows + rows) * len(self.columns) <= MAX_CELLS

    def add(self, rows: int, runs: Iterable[Run]) -> None:
        """Take further rows. What a run does not fill is a gap."""
        if self.full or not self.fits(rows):
            self.full = True
            self._notes.say(f"more than {MAX_CELLS:,} cells; only the first {self.rows:,} rows were read")
            return
        self.rows += rows
        room = min(self._room, MAX_CELLS // max(len(self.columns), 1))
        for run in runs:
            column = self.columns.get(run.name)
            if column is not None:
                self._texts_kept += column.add(run, self.rows, room, keep_texts=not self._texts_lost)
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
        shown = f"{redacted_head(safe_text(text), _SHOWN)!r} in column {redacted_head(name, _SHOWN)!r}"
        self._notes.at(line, f"{shown} is not a number; read as a gap{more}")
