"""The table that every tabular text format is read into: numeric columns, text columns, what was wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of equal length, in the order of the file.

    Attributes:
        columns: Every column name, in header order.
        rows: Number of rows.
        numbers: Numeric columns as float64, NaN where no number stands.
        missing: For the numeric columns that have gaps: True where the file has no number. A NaN that is not
            marked here was logged as NaN.
        texts: The columns that are not numeric, "" where a cell is empty. Long cells are cut, and a column
            beyond the limits of table_builder.py is left out with a note.
        comments: Leading comment lines, without the "#".
        problems: What could not be read, in plain language.
    """

    columns: tuple[str, ...]
    rows: int
    numbers: Mapping[str, NDArray[np.float64]]
    missing: Mapping[str, NDArray[np.bool_]]
    texts: Mapping[str, tuple[str, ...]]
    comments: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def gaps(self, name: str) -> NDArray[np.bool_]:
        """True where the numeric column `name` has no number, as opposed to a logged NaN."""
        mask = self.missing.get(name)
        return np.zeros(self.numbers[name].size, np.bool_) if mask is None else mask
