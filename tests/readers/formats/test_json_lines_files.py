"""JSON lines in files: limits, and polars as the faster way to the same table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.tables import json_polars
from rlclinic.readers.formats.tables.cells import Cells
from rlclinic.readers.formats.tables.json_lines import read_json_lines, read_json_lines_file
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.place import named
from tests.readers.formats.table_checks import VALUES, assert_same, blocks_of, needs_polars


def test_a_file_is_read_like_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_bytes(b'{"a": 1}\n')
    assert_same(read_json_lines_file(named(path)), read_json_lines(b'{"a": 1}\n'))


def test_a_file_beyond_the_limit_is_read_up_to_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n')
    table = read_json_lines_file(named(path), max_bytes=12)
    assert table.numbers["a"].tolist() == [1]
    assert table.problems == ("only the first 12 of 18 bytes were read",)


def test_only_os_errors_come_out_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        read_json_lines_file(named(tmp_path / "absent.json"))


def test_small_files_do_not_import_polars(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_bytes(b'{"a": 1}\n' * 1000)
    with mock.patch.object(json_polars.Schema, "read", side_effect=AssertionError):
        assert read_json_lines_file(named(path)).rows == 1000


def test_without_polars_large_files_are_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_bytes(b'{"a": 1}\n' * 1000)
    with mock.patch.dict(sys.modules, {"polars": None}), blocks_of(100):
        assert read_json_lines_file(named(path), fast_bytes=0).rows == 1000


def both_ways(data: bytes, path: Path, size: int = 60) -> tuple[Table, bool]:
    """Check that polars changes nothing; whether it was used."""
    path.write_bytes(data)
    used: list[bool] = []
    read = json_polars.Schema.read

    def spy(self: json_polars.Schema, data: bytes) -> dict[str, Cells] | None:
        result = read(self, data)
        used.append(result is not None)
        return result

    with blocks_of(size), mock.patch.object(json_polars.Schema, "read", spy):
        fast = read_json_lines_file(named(path), fast_bytes=0)
        assert_same(fast, read_json_lines(data))
    return fast, any(used)


@needs_polars
@pytest.mark.parametrize("tail", [b"", b'{"step": 7, "l', b'{"step": 7}'])
def test_polars_reads_regular_lines_and_leaves_the_torn_one(tmp_path: Path, tail: bytes) -> None:
    rows = [{"step": i, "loss": {"v": i / 7}, "done": i % 2 == 0, "host": "node", "hist": [i, 1.5]} for i in range(50)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode() + tail
    table, used = both_ways(data, tmp_path / "x.json", 300)
    assert used
    assert table.numbers["loss/v"][:50].tolist() == [i / 7 for i in range(50)]


@needs_polars
def test_polars_reads_lines_with_differing_keys(tmp_path: Path) -> None:
    rows = [{"step": i, "eval": {"r": i / 2}} if i % 3 else {"loss": i / 7, "step": i} for i in range(50)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    _, used = both_ways(data, tmp_path / "x.json", 300)
    assert used


@needs_polars
@pytest.mark.parametrize(
    "line",
    [
        '{"step": 1, "new": 5}',
        '{"step": 1, "step": 2, "name": "x"}',
        '{"step": 1, "o": {"v": 1, "w": 2}}',
        '{"step": "5"}',
        '{"step": 1, "name": 5}',
        '{"step": 1, "name": "5"}',
        '{"step": 1, "name": "nan"}',
        '{"step": 1, "name": true}',
        '{"step": 1, "name": 5}\n' * 60,
        '{"step": 1, "name": "a\0b"}',
        '{"step": 1, "name": {"a": 1}}',
        '{"step": 1, "name": "\\ud800"}',
        '{"st\\u0065p": 1}',
        '{"step": NaN}',
        '{"step": true}',
        '{"step": null, "name": "null"}',
        '{"step" : 1}',
        '{"step": 1e400}',
        '{"step": 123456789012345678901234567890}',
        '{"o": 5}',
        '{"o/v": 5}',
        '{"o": null}',
        '{"new": null}',
        "junk",
        "[1]",
        "",
        "{}",
    ],
)
def test_polars_never_changes_how_an_odd_line_is_read(tmp_path: Path, line: str) -> None:
    data = '{"step": 1, "name": "x", "o": {"v": 0.5}}\n' * 20 + line + "\n" + '{"step": 2}\n' * 3
    both_ways(data.encode(), tmp_path / "x.json")


@st.composite
def nearly_regular(draw: st.DrawFn) -> bytes:
    """Lines that polars can read, unless one or two are odd."""
    numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**64), 2**64)
    kinds: list[st.SearchStrategy[object]]
    kinds = [numbers, numbers, numbers, st.booleans(), st.sampled_from(["x", "", "h-1"]), st.lists(numbers)]
    shape: dict[str, st.SearchStrategy[object]]
    shape = {key: draw(st.sampled_from(kinds)) for key in draw(st.sets(st.sampled_from("abcd"), min_size=1))}
    shape["o"] = st.fixed_dictionaries({}, optional={"v": numbers, "w": draw(st.sampled_from(kinds))})
    row = st.fixed_dictionaries({}, optional=shape)
    lines = [json.dumps(item) for item in draw(st.lists(row, min_size=2, max_size=10))]
    odd = st.dictionaries(st.sampled_from("abo"), VALUES, max_size=3).map(json.dumps)
    lines = lines * 6
    if draw(st.integers(0, 3)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(odd))
    return ("\n".join(lines) + draw(st.sampled_from(["", "\n"]))).encode()


@needs_polars
@given(nearly_regular(), st.integers(20, 300))
@settings(derandomize=True, max_examples=150)
def test_polars_and_the_plain_path_agree(tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int) -> None:
    _, used = both_ways(data, tmp_path_factory.getbasetemp() / "agree.json", size)
    event(f"read by polars: {used}")
