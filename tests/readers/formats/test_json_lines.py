from __future__ import annotations

import json
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.tables import builder as table_builder
from rlclinic.readers.formats.tables import cells as table_cells
from rlclinic.readers.formats.tables import json_lines
from rlclinic.readers.formats.tables.json_lines import (
    looks_like_json_lines,
    read_json_lines,
)
from tests.readers.formats.table_checks import VALUES, assert_same, assert_sound, blocks_of, numbers

# values


def test_nested_objects_are_flattened_with_slashes_and_lists_left_out() -> None:
    row = {"step": 1, "info": {"learner": {"kl": 0.5}, "name": "x"}, "hist_stats": {"reward": [1, 2]}, "e": {}}
    table = read_json_lines(json.dumps(row).encode() + b"\n")
    assert table.columns == ("step", "info/learner/kl", "info/name")
    assert table.numbers["info/learner/kl"].tolist() == [0.5]
    assert table.texts == {"info/name": ("x",)}
    assert table.problems == ()


def test_bare_and_quoted_non_finite_numbers_are_numbers() -> None:
    table = read_json_lines(b'{"a": NaN}\n{"a": -Infinity}\n{"a": "NaN"}\n{"a": "inf"}\n{"a": 1}\n')
    assert table.numbers["a"][1:].tolist()[0] == -math.inf
    assert table.numbers["a"][3:].tolist() == [math.inf, 1.0]
    assert np.isnan(table.numbers["a"]).tolist() == [True, False, True, False, False]
    assert not table.gaps("a").any()


def test_null_and_absent_keys_are_gaps() -> None:
    table = read_json_lines(b'{"a": 1, "b": null}\n{"b": 2}\n{"a": 3, "c": NaN}\n')
    assert table.columns == ("a", "b", "c")
    assert numbers(table, "a") == [1, None, 3]
    assert numbers(table, "b") == [None, 2, None]
    assert table.gaps("c").tolist() == [True, True, False]


def test_rows_of_two_kinds_that_alternate_keep_their_places() -> None:
    rows = [{"step": i, "eval": i / 2} if i % 3 == 0 else {"loss": i / 4, "step": i} for i in range(100)]
    table = read_json_lines("".join(json.dumps(row) + "\n" for row in rows).encode())
    assert table.numbers["step"].tolist() == list(range(100))
    assert numbers(table, "eval") == [row.get("eval") for row in rows]
    assert numbers(table, "loss") == [row.get("loss") for row in rows]


def test_numeric_strings_stay_text_and_truth_values_are_numbers() -> None:
    table = read_json_lines(b'{"id": "007", "done": false}\n{"id": "8", "done": true}\n')
    assert table.texts == {"id": ("007", "8")}
    assert table.numbers["done"].tolist() == [0, 1]


def test_a_stray_string_among_numbers_is_a_gap_with_a_note() -> None:
    table = read_json_lines(b'{"a": 1}\n{"a": "oops"}\n{"a": 3}\n')
    assert numbers(table, "a") == [1, None, 3]
    assert table.problems == ("line 2: 'oops' in column 'a' is not a number; read as a gap",)


def test_numbers_in_a_text_column_are_written_short() -> None:
    data = b'{"a": "x"}\n{"a": 3}\n{"a": "y"}\n{"a": 0.5}\n{"a": null}\n{"a": "z"}\n{"a": "NaN"}\n'
    assert read_json_lines(data).texts == {"a": ("x", "3", "y", "0.5", "", "z", "nan")}


@pytest.mark.parametrize("digits", [20, 400, 10_000])
def test_huge_integers_are_numbers(digits: int) -> None:
    table = read_json_lines(b'{"a": ' + b"9" * digits + b"}\n")
    assert table.numbers["a"].tolist() == [float("9" * digits)]


def test_the_last_of_repeated_keys_counts() -> None:
    table = read_json_lines(b'{"a": 1, "a": 2}\n{"a/b": 1, "a": {"b": 2}}\n')
    assert numbers(table, "a") == [2, None]
    assert numbers(table, "a/b") == [None, 2]


def test_half_of_a_surrogate_pair_can_be_encoded_afterwards() -> None:
    table = read_json_lines(b'{"k\\ud800": 1, "t": "\\udfff"}\n')
    assert table.columns == ("k?", "t")
    assert table.texts == {"t": ("?",)}


def test_objects_nested_too_deeply_are_left_out_with_a_note() -> None:
    deep = b'{"k": ' * 40 + b"1" + b"}" * 40
    table = read_json_lines(b'{"a": 1, "b": ' + deep + b"}\n")
    assert table.columns == ("a",)
    assert table.problems == ("line 1: objects nested deeper than 16 levels were left out",)


@pytest.mark.parametrize("opening", [b"[", b'{"k":'])
def test_nesting_without_bound_is_a_junk_line(opening: bytes) -> None:
    table = read_json_lines(b'{"a": 1}\n{"a": ' + opening * 100_000 + b'\n{"a": 2}\n')
    assert table.numbers["a"].tolist() == [1, 2]
    assert table.problems == ("line 2: not a JSON object; skipped",)


@given(st.floats(allow_nan=False))
@settings(derandomize=True, max_examples=200)
def test_every_float_survives_writing_and_reading(value: float) -> None:
    table = read_json_lines(json.dumps({"a": value}).encode())
    assert table.numbers["a"].tolist() == [value]


# broken files


def test_a_torn_last_line_is_dropped_with_a_note() -> None:
    table = read_json_lines(b'{"a": 1}\n{"a": 2, "b": 0.')
    assert table.numbers["a"].tolist() == [1]
    assert table.problems == ("line 2: torn last line dropped",)


def test_a_complete_last_line_needs_no_line_end() -> None:
    table = read_json_lines(b'{"a": 1}\n{"a": 2}')
    assert table.numbers["a"].tolist() == [1, 2]
    assert table.problems == ()


@given(st.integers(0, 400))
@settings(derandomize=True, max_examples=60)
def test_a_file_cut_anywhere_gives_the_lines_before_the_cut(cut: int) -> None:
    whole = "".join(json.dumps({"step": i, "loss": {"v": i / 7}}) + "\n" for i in range(12))
    data = whole[:cut]
    table = read_json_lines(data.encode())
    complete = data.count("\n")
    assert complete <= table.rows <= complete + 1
    if complete:
        assert table.numbers["loss/v"][:complete].tolist() == [i / 7 for i in range(complete)]


def test_junk_lines_are_skipped_and_counted() -> None:
    table = read_json_lines(b'{"a": 1}\nTraceback:\n\n[1, 2]\n3\n{"a": 2} x\n{"a": 3}\n')
    assert table.numbers["a"].tolist() == [1, 3]
    assert table.problems == ("line 2 and 3 more: not a JSON object; skipped",)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_line_end_and_unicode_encoding_is_understood(end: str, encoding: str) -> None:
    table = read_json_lines(end.join(['{"größe": 1}', '{"größe": 2}', ""]).encode(encoding))
    assert table.numbers["größe"].tolist() == [1, 2]
    assert table.problems == ()


def test_latin_1_and_nul_bytes_are_noted() -> None:
    table = read_json_lines('{"größe": 1}\n\0\0\0'.encode("latin-1"))
    assert table.numbers["größe"].tolist() == [1]
    assert len(table.problems) == 2


def test_one_object_over_several_lines_is_not_taken_for_rows() -> None:
    table = read_json_lines(json.dumps({"a": 1, "rows": [{"b": 1}, {"b": 2}]}, indent=2).encode())
    assert table.rows == 0
    assert table.problems[0] == "one JSON object over several lines, not JSON lines"


def test_a_torn_first_line_does_not_hide_the_others() -> None:
    table = read_json_lines(b'{"a": 1,\n{"a": 2}\n')
    assert table.numbers["a"].tolist() == [2]
    assert table.problems == ("line 1: not a JSON object; skipped",)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"junk", b"[]", b"[1, 2]", b"{"])
def test_a_file_without_rows_says_so(data: bytes) -> None:
    table = read_json_lines(data)
    assert table.rows == 0
    assert table.problems[-1] == "there is no row in the file"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_top_level_array_of_objects_is_accepted(indent: int | None) -> None:
    rows = [{"step": i, "loss": {"v": i / 7}} for i in range(5)]
    table = read_json_lines(json.dumps(rows, indent=indent).encode())
    assert table.numbers["loss/v"].tolist() == [i / 7 for i in range(5)]
    assert table.problems == ()


def test_a_torn_array_gives_its_whole_elements() -> None:
    table = read_json_lines(b'[{"a": 1},\n 5,\n {"a": 2},\n {"a": 3')
    assert table.numbers["a"].tolist() == [1, 2]
    assert table.problems == (
        "line 2: an element of the array is not an object; skipped",
        "line 4: not valid JSON; the rest of the array was left out",
    )
    assert read_json_lines(b'[{"a": 1}').problems == ("the array is not closed; the file may be cut off",)


# limits


def test_a_short_file_cannot_ask_for_a_huge_table() -> None:
    rows = b'{"a": 1}\n' * 1000 + b"".join(b'{"k%d": 1}\n' % i for i in range(1000))
    with mock.patch.object(table_builder, "MAX_CELLS", 5000), mock.patch.object(json_lines, "FLUSH_CELLS", 100):
        table = read_json_lines(rows)
    assert table.rows * len(table.columns) <= 5000
    assert table.rows >= 1000
    assert table.problems


def test_columns_beyond_the_limit_are_left_out() -> None:
    rows = b"".join(b'{"k%d": 1}\n' % i for i in range(20))
    with mock.patch.object(table_builder, "MAX_COLUMNS", 3):
        table = read_json_lines(rows)
    assert table.columns == ("k0", "k1", "k2")
    assert table.rows == 20
    assert table.problems == ("there are too many columns; some were left out",)


def test_a_line_of_a_million_characters_is_read() -> None:
    row = {f"metric_{i}": i / 3 for i in range(9000)} | {"text": "x" * 1_000_000}
    table = read_json_lines(json.dumps(row).encode() + b'\n{"metric_5": 1}\n')
    assert table.numbers["metric_5"].tolist() == [5 / 3, 1]
    assert len(table.texts["text"][0]) == table_cells.MAX_TEXT_LENGTH


# recognising


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"a": 1}\n{"a": 2}\n', True),
        (b'\xef\xbb\xbf\n{"a": NaN}\n{"a"', True),
        (b'{"a": 1}', True),
        (b'{"config": {"lr": 0.1, "laye', True),
        (b'{\n  "a": 1\n}\n', False),
        (b'{"a": 1,\n "b": 2}\n', False),
        (b'[{"a": 1}]\n', False),
        (b"step,loss\n1,2\n", False),
        (b"version https://git-lfs.github.com/spec/v1\n", False),
        (b"", False),
        (b"\xff\xfe\x00\x01", False),
        (b"[" * 50_000, False),
    ],
)
def test_json_lines_are_recognised_by_their_first_line(head: bytes, expected: bool) -> None:  # noqa: FBT001
    assert looks_like_json_lines(head) is expected


# any bytes

ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "c", "a/b", ""]), VALUES, max_size=4), max_size=8)


@given(st.binary(max_size=200), st.sampled_from([b"", b"{", b"[", b'{"a": ', b'[{"a": 1},']))
@example(b"]", b"[")
@example(b"\n", b"{")
@settings(derandomize=True, max_examples=300)
def test_no_bytes_raise_an_error(data: bytes, prefix: bytes) -> None:
    assert_sound(read_json_lines(prefix + data))
    looks_like_json_lines(prefix + data)


@given(ROWS, st.integers(5, 200))
@settings(derandomize=True, max_examples=200)
def test_any_rows_are_read_as_the_json_module_reads_them(rows: list[dict[str, object]], size: int) -> None:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    table = read_json_lines(data)
    assert_sound(table)
    assert table.rows == len(rows)
    for name, values in table.numbers.items():
        for index, row in enumerate(rows):
            value = row.get(name)
            if isinstance(value, float) and "/" not in name:
                np.testing.assert_equal(values[index], value)
    with blocks_of(size):
        assert_same(read_json_lines(data), table)
