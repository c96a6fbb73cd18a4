"""metrics.csv: one wide table that grows by rows and by columns and is whole at every moment.

A row is one `write` of one line to a file opened for appending, so a killed process leaves whole lines. A new column
writes the table anew beside it and renames.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from rlclinic.model.errors import UsageError
from rlclinic.model.numbers import number_in
from rlclinic.store.files import whole_file

STEPS = "train/cnt/total_env_steps"
FIRST = ("time", "total_timesteps", "epoch")
# Of a table to go on with: a million rows, as training of any length writes some hundreds.
MOST_BYTES = 512 << 20


class MetricsFile:
    """Appends rows to a metrics.csv; goes on with one that is there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.columns: tuple[str, ...] = ()
        self.rows = 0
        self._file = -1

    def append(self, row: Mapping[str, float]) -> None:
        """Add one row; values that are missing stay empty, NaN and infinities are written as such."""
        if self._file < 0:
            self._open()
        new = set(row) - set(self.columns)
        if new:
            self._widen(new)
        # The shortest texts that read back as the same numbers (nan and inf among them), counters without a point.
        cells = ",".join([f"{float(row[name])!r}" if name in row else "" for name in self.columns])
        line = f"{cells}\r\n".replace(".0,", ",").replace(".0\r", "\r")
        self._write(line.encode())
        self.rows += 1

    def last_epoch(self) -> int:
        """The number of the last row's epoch; -1 where there is none."""
        rows = self._rows()
        if self._file < 0:
            self._open()
        return int(max((epoch for epoch, _, _ in rows), default=-1))

    def cut_after(self, env_steps: float) -> int:
        """Move the rows of later steps to `metrics.cut.csv`: a resumed run takes those steps again. How many moved."""
        rows = self._rows()
        if self._file < 0:
            self._open()
        last = max((int(epoch) for epoch, steps, _ in rows if steps is not None and steps <= env_steps), default=-1)
        later = [row for epoch, _, row in rows if epoch > last]
        if later:
            self._rewrite(self.path.with_name("metrics.cut.csv"), self.columns, later)
            self._replace(self.columns, [row for epoch, _, row in rows if epoch <= last])
        return len(later)

    def close(self) -> None:
        """Flush to the disk and let go."""
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1

    def _rows(self) -> list[tuple[float, float | None, dict[str, str]]]:
        """Epoch, env steps and cells of every whole row. Nothing is touched where somebody else wrote the table."""
        found: list[tuple[float, float | None, dict[str, str]]] = []
        try:
            if self.path.exists() and self.path.stat().st_size > MOST_BYTES:
                raise ValueError
            data = self.path.read_bytes() if self.path.exists() else b""
            text = data[: data.rfind(b"\n") + 1].decode()
            reader = csv.DictReader(io.StringIO(text, newline=""))
            if data and not {"epoch", STEPS} <= set(reader.fieldnames or ()):
                raise ValueError
            for row in reader:
                epoch, steps = number_in(row["epoch"]), row[STEPS]
                if epoch is None or None in row or (steps and number_in(steps) is None):
                    raise ValueError
                found.append((epoch, number_in(steps) if steps else None, row))
        except (ValueError, KeyError, TypeError, csv.Error) as error:
            raise UsageError(
                "is not a table that `rlclinic train` wrote",
                path=str(self.path),
                hint="move it away to train this config from the start",
            ) from error
        return found

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        size = os.fstat(self._file).st_size
        if size:
            with open(self.path, "rb") as file:
                whole = file.read().rfind(b"\n") + 1
            # A torn last line (power loss) would swallow the next row.
            os.ftruncate(self._file, whole)
            size = whole
        if size:
            with open(self.path, newline="", encoding="utf-8") as file:
                lines = csv.reader(file)
                self.columns = tuple(next(lines, ()))
                self.rows = sum(1 for _ in lines)

    def _widen(self, new: set[str]) -> None:
        columns = (*FIRST, *sorted((set(self.columns) | new) - set(FIRST)))
        with open(self.path, newline="", encoding="utf-8") as old:
            self._replace(columns, csv.DictReader(old))

    def _replace(self, columns: tuple[str, ...], rows: Iterable[Mapping[str, str]]) -> None:
        self._rewrite(self.path, columns, rows)
        os.close(self._file)
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        self.columns = columns

    @staticmethod
    def _rewrite(path: Path, columns: tuple[str, ...], rows: Iterable[Mapping[str, str]]) -> None:
        with whole_file(path) as file:
            writer = csv.DictWriter(file, columns, restval="")
            writer.writeheader()
            writer.writerows(rows)

    def _write(self, line: bytes) -> None:
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:
            # A full disk takes half a line: the table must not keep it.
            os.ftruncate(self._file, before)
            raise
