"""Small operations on tables of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rlclinic.readers.formats.tables.table import Table


def present(table: Table, name: str) -> NDArray[np.bool_]:
    """True where a numeric column has a value; a logged NaN is one."""
    return ~table.gaps(name)


def without(table: Table, *names: str) -> Table:
    """The table without some columns."""
    dropped = set(names)
    return replace(
        table,
        columns=tuple(name for name in table.columns if name not in dropped),
        numbers={name: values for name, values in table.numbers.items() if name not in dropped},
        texts={name: values for name, values in table.texts.items() if name not in dropped},
    )


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """The table with some columns under other names."""
    return replace(
        table,
        columns=tuple(names.get(name, name) for name in table.columns),
        numbers={names.get(name, name): values for name, values in table.numbers.items()},
        missing={names.get(name, name): values for name, values in table.missing.items()},
    )


def from_sparse(columns: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]], rows: int) -> Table:
    """A table from columns that name the rows they have values in."""
    numbers: dict[str, NDArray[np.float64]] = {}
    missing: dict[str, NDArray[np.bool_]] = {}
    for name, (indices, values) in columns.items():
        numbers[name] = np.full(rows, np.nan)
        numbers[name][indices] = values
        if len(indices) < rows:
            missing[name] = np.ones(rows, dtype=np.bool_)
            missing[name][indices] = False
    return Table(tuple(columns), rows, numbers, missing, {})
