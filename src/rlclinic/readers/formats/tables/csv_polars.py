"""The rows of a large clean CSV file, read by polars. What polars could read differently is declined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlclinic.readers.formats.tables.cells import Cells, convert_texts
from rlclinic.readers.formats.tables.csv_records import SPACES

_CAREFUL = ['"', "\0"]  # characters in a text cell that the careful path would act on


def read_segment(data: bytes, plain: Sequence[bool], delimiter: str) -> list[Cells] | None:
    """The columns of whole lines, or None if polars is missing or unsure.

    Args:
        data: The lines.
        plain: For every column whether it had only numbers and gaps so far.
        delimiter: The character between the cells.
    """
    if len(plain) < 2 or not any(plain) or delimiter == SPACES or not data.endswith(b"\n"):
        return None
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None  # polars drops a carriage return at the end of any cell
    try:
        import polars as pl
    except ImportError:
        return None
    schema = {str(index): pl.Float64 if is_plain else pl.String for index, is_plain in enumerate(plain)}
    try:
        frame = pl.read_csv(data, has_header=False, schema=schema, separator=delimiter, quote_char=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
        return None
    if frame.height == 0:
        return None
    if frame[frame.columns[-1]].null_count():  # short and empty lines are filled up with nulls
        delimiters = data.count(delimiter.encode())
        if delimiters != frame.height * (len(plain) - 1):
            return None
    if not plain[0] and frame["0"].str.starts_with("#").any():
        return None
    columns: list[Cells] = []
    for series, is_plain in zip(frame.get_columns(), plain, strict=True):
        cells = _numbers(series) if is_plain else _texts(series)
        if cells is None:
            return None
        columns.append(cells)
    return columns


def _numbers(series: Any) -> Cells:
    missing = series.is_null().to_numpy() if series.null_count() else None
    return Cells(series.to_numpy(), missing)


def _texts(series: Any) -> Cells | None:
    """A column that has words in it: only numbers or only text, else how it reads depends on the blocks."""
    if series.str.contains_any(_CAREFUL).any():
        return None
    cells = convert_texts(series.fill_null("").to_list())
    empty = 0 if cells.missing is None else int(np.count_nonzero(cells.missing)) - len(cells.others)
    is_mixed = cells.others and len(cells.others) + empty < len(cells.values)
    return None if is_mixed else cells
