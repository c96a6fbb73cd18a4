"""Helpers of the tests of tables: columns as lists, comparing tables, small blocks."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.util import find_spec
from unittest import mock

import numpy as np
import pytest
from hypothesis import strategies as st

from rlclinic.readers.formats.tables import file_bytes as table_bytes
from rlclinic.readers.formats.tables.table import Table

needs_polars = pytest.mark.skipif(find_spec("polars") is None, reason="polars is not installed")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["", "x", "7", "NaN", "a\nb", "é", "{}"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc/"), inner, max_size=3),
    max_leaves=6,
)
"""Whatever a cell of a JSON row may hold."""


def numbers(table: Table, name: str) -> list[float | None]:
    """A numeric column as a list, None where there is a gap."""
    pairs = zip(table.numbers[name].tolist(), table.gaps(name).tolist(), strict=True)
    return [None if gap else value for value, gap in pairs]


def assert_same(left: Table, right: Table) -> None:
    assert left.columns == right.columns
    assert left.rows == right.rows
    assert left.texts == right.texts
    assert left.comments == right.comments
    assert left.problems == right.problems
    assert list(left.numbers) == list(right.numbers)
    for name in left.numbers:
        np.testing.assert_array_equal(left.numbers[name], right.numbers[name])
        np.testing.assert_array_equal(left.gaps(name), right.gaps(name))


def assert_sound(table: Table) -> None:
    """What holds for every table, whatever it was read from."""
    assert set(table.numbers) | set(table.texts) <= set(table.columns)
    assert not set(table.numbers) & set(table.texts)
    for name, values in table.numbers.items():
        assert values.shape == (table.rows,)
        assert np.isnan(values[table.gaps(name)]).all()
    assert all(len(texts) == table.rows for texts in table.texts.values())
    for text in (*table.columns, *table.comments, *table.problems, *sum(table.texts.values(), ())):
        text.encode()


def blocks_of(size: int) -> AbstractContextManager[object]:
    """Blocks of this many bytes, and segments of five."""
    return mock.patch.multiple(table_bytes, BLOCK_BYTES=size, SEGMENT_BYTES=5 * size)
