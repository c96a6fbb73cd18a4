"""Columns of a parquet file, read in a process of its own: a damaged file makes the library abort, which nobody can
catch."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import IO, Any

import numpy as np

from rlclinic.readers.formats.archive import array_names, read_arrays
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.transitions.columns import MOST_ROWS

# Rows that are read at a time.
BATCH = 20_000
PATIENCE = 120.0
"""Seconds."""


def is_installed() -> bool:
    """Whether there is a library for it."""
    return find_spec("pyarrow") is not None


def read_parquet(file: IO[bytes], limit: int) -> Mapping[str, Any]:
    """The columns of numbers of an open file; FormatError where it is damaged or takes more than `limit` bytes."""
    command = [sys.executable, "-P", "-m", __name__, str(limit)]
    try:
        child = subprocess.run(command, stdin=file, capture_output=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise FormatError(f"nothing was read of it in {PATIENCE:.0f} s") from error
    if child.returncode == TOO_LARGE:
        raise FormatError(f"it is larger than {limit >> 20} MB")
    if child.returncode:
        raise FormatError("damaged")
    answer = io.BytesIO(child.stdout)
    return read_arrays(answer, array_names(answer), limit)


TOO_LARGE = 3


def _serve(limit: int) -> int:
    from pyarrow import parquet

    opened = parquet.ParquetFile(sys.stdin.buffer)
    groups = [opened.metadata.row_group(at) for at in range(opened.num_row_groups)]
    # Equal values take no room in the file, and one row may hold any number of them.
    if 8 * sum(group.column(at).num_values for group in groups for at in range(group.num_columns)) > limit:
        return TOO_LARGE
    columns: dict[str, list[Any]] = {}
    # A text that a dictionary holds once takes its whole length in each row.
    wanted = [field.name for field in opened.schema_arrow if _holds_numbers(field.type)]
    for count, batch in enumerate(opened.iter_batches(BATCH, columns=wanted)):
        if count * BATCH >= MOST_ROWS:
            break
        for name in batch.schema.names:
            values = batch.column(name).to_numpy(zero_copy_only=False)
            columns.setdefault(name, []).append(np.stack(values) if values.dtype == object else values)
    joined: dict[str, Any] = {name: np.concatenate(parts) for name, parts in columns.items()}
    answer = io.BytesIO()
    np.savez(answer, **{name: values for name, values in joined.items() if values.dtype.kind in "biuf"})
    sys.stdout.buffer.write(answer.getvalue())
    return 0


def _holds_numbers(kind: Any) -> bool:
    """Whether a column is of numbers, lists of them, or a dictionary of them."""
    from pyarrow import types

    while hasattr(kind, "value_type"):
        kind = kind.value_type
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


if __name__ == "__main__":
    sys.exit(_serve(int(sys.argv[1])))
