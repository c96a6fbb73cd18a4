from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.tables import builder as table_builder
from rlclinic.readers.formats.tables import csv_polars, csv_records, csv_table
from rlclinic.readers.formats.tables import file_bytes as table_bytes
from rlclinic.readers.formats.tables.csv_table import read_csv, read_csv_file
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.place import named
from tests.readers.formats.table_checks import assert_same, assert_sound, blocks_of, needs_polars

CELLS = ["0", "1", "-2.5", "1e-3", "nan", "-inf", "1e400", "12345678901234567890", ""]
ODD_CELLS = ["None", "True", "abc", "a", "b", " 3", "3 ", " ", "1_0", "é", "#x", '"q,r"', '"x\ny"', '"', 'k"', "٣"]


# limits


def test_a_line_without_end_is_skipped() -> None:
    with mock.patch.object(table_bytes, "LONGEST_LINE", 1000), blocks_of(100):
        table = read_csv(b"a,b\n1,2\n" + b"x" * 2000 + b"\n3,4\n")
    assert table.numbers["a"].tolist() == [1, 3]
    assert table.problems == ("line 3: longer than 1,000 bytes; skipped",)


def test_a_short_file_cannot_ask_for_a_huge_table() -> None:
    wide = ",".join(f"c{index}" for index in range(5000))
    with mock.patch.object(table_builder, "MAX_CELLS", 4_000_000):
        table = read_csv(f"{wide}\n".encode() + b"1\n" * 100_000)
    assert 0 < table.rows * len(table.columns) <= 4_000_000
    assert any("cells" in problem for problem in table.problems)


def test_columns_beyond_the_limit_are_left_out() -> None:
    names = [f"c{index}" for index in range(table_builder.MAX_COLUMNS + 5)]
    line = ",".join(names).encode() + b"\n"
    table = read_csv(line + b"1," * len(names) + b"1\n" + line)
    assert table.columns == tuple(names[: table_builder.MAX_COLUMNS])
    assert table.rows == 1
    assert table.problems == (
        "there are too many columns; some were left out",
        "line 2: more cells than the header; the extra ones were left out",
        "line 3: repeats the header; skipped",
    )


def test_quotes_lose_their_meaning_after_too_many_strays() -> None:
    with mock.patch.object(csv_records, "MAX_RECORD_LINES", 50):
        table = read_csv(b"a,b\n" + b'x"y,"z\n' * 2000)
    assert table.rows == 2000
    assert table.texts["b"] == ('"z',) * 2000
    assert table.problems == ("line 2 and 20 more: a quote is opened and never closed; taken as it stands",)


def test_a_quote_that_seems_to_close_again_and_again_is_given_up() -> None:
    data = b'a,b\n1,"x\n' + b'",b"c,"d\n' * 500
    with mock.patch.object(csv_records, "_split_quoted", wraps=csv_records._split_quoted) as split:
        read_csv(data)
    assert split.call_count < 1000


def test_text_beyond_the_limit_is_given_up_without_losing_numbers() -> None:
    with mock.patch.object(table_builder, "MAX_TEXT_CELLS", 10):
        table = read_csv(b"name,step\n" + b"".join(b"n%d,%d\n" % (i, i) for i in range(50)))
    assert table.texts == {}
    assert table.numbers["step"].tolist() == list(range(50))


# blocks


def test_a_header_of_several_lines_may_be_cut_by_a_block() -> None:
    with blocks_of(14):
        table = read_csv(b'#note\n"first\nname","second\nname"\n1,2\n')
    assert table.columns == ("first\nname", "second\nname")
    assert table.comments == ("note",)
    assert table.numbers["first\nname"].tolist() == [1]


def test_the_result_does_not_depend_on_where_blocks_are_cut() -> None:
    rows = [f'{i},{i / 3 if i % 4 else ""},"n, {i}\nx",{"" if i % 5 else i}\n' for i in range(300)]
    rows.insert(200, "step,loss,name,eval\n")
    rows.insert(100, "7,8\n")
    data = ("step,loss,name,eval\n" + "".join(rows)).encode()
    whole = read_csv(data)
    for size in (50, 333, 4096):
        with blocks_of(size):
            assert_same(read_csv(data), whole)
    assert whole.rows == 301


@given(
    st.lists(st.lists(st.sampled_from(["1", "-2.5", "", "nan", "word"]), min_size=3, max_size=3), max_size=30),
    st.integers(5, 60),
    st.sampled_from(["", "\n"]),
)
@settings(derandomize=True, max_examples=150)
def test_blocks_of_any_size_give_the_same_table(rows: list[list[str]], size: int, end: str) -> None:
    text = "x,y,z\n" + "\n".join(",".join(row) for row in rows) + end
    whole = read_csv(text.encode())
    with blocks_of(size):
        assert_same(read_csv(text.encode()), whole)


# any bytes


@given(st.binary(max_size=300))
@example(b'"')
@example(b'a,b\n"')
@example(b"\xff\xfe\x00")
@example(b"\n,\n")
@example(b",\n#\n,")
@settings(derandomize=True, max_examples=400)
def test_no_bytes_raise_an_error(data: bytes) -> None:
    assert_sound(read_csv(data))
    assert_sound(read_csv(data, header=["a", "b"], delimiter=" "))


def csv_text(cells: Sequence[str]) -> st.SearchStrategy[str]:
    """Text that resembles a CSV file, more or less."""
    rows = st.lists(st.lists(st.sampled_from(list(cells)), max_size=5), max_size=12)
    line_end = st.sampled_from(["\n", "\r\n", "\n\n", "\r"])
    parts = st.tuples(rows, st.sampled_from([",", "\t", " "]), line_end, st.booleans(), st.booleans())
    return parts.map(
        lambda p: (
            ("a,b,c\n".replace(",", p[1]) if p[3] else "")
            + p[2].join(p[1].join(row) for row in p[0])
            + (p[2] if p[4] else "")
        )
    )


@given(csv_text([*CELLS, *ODD_CELLS]), st.integers(4, 80))
@settings(derandomize=True, max_examples=250)
def test_broken_tables_are_read_without_an_error(text: str, size: int) -> None:
    with blocks_of(size):
        assert_sound(read_csv(text.encode()))


@given(
    st.lists(
        st.lists(
            st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")), min_size=2, max_size=2
        ),
        min_size=1,
        max_size=8,
    )
)
@settings(derandomize=True, max_examples=200)
def test_what_the_csv_module_writes_is_read_back(rows: list[list[str]]) -> None:
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["k", "v", "w"], *(["word", *row] for row in rows)])
    table = read_csv(file.getvalue().encode())
    for name, index in (("v", 0), ("w", 1)):
        expected = tuple(row[index].replace("\r\n", "\n").replace("\r", "\n") for row in rows)
        assert name in table.numbers or table.texts[name] == expected
    assert table.texts["k"] == ("word",) * len(rows)


# files and polars


def test_a_file_is_read_like_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "progress.csv"
    path.write_bytes(b"step,loss\n1,0.5\n")
    assert_same(read_csv_file(named(path)), read_csv(b"step,loss\n1,0.5\n"))


def test_a_file_beyond_the_limit_is_read_up_to_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "progress.csv"
    path.write_bytes(b"step,loss\n1,0.5\n2,0.25\n")
    table = read_csv_file(named(path), max_bytes=20)
    assert table.numbers["step"].tolist() == [1]
    assert table.problems == ("only the first 20 of 23 bytes were read",)


def test_only_os_errors_come_out_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        read_csv_file(named(tmp_path / "absent.csv"))
    with pytest.raises(OSError, match="directory"):
        read_csv_file(named(tmp_path))
    with pytest.raises(OSError, match="not a regular file"):
        read_csv_file(named(Path("/dev/null")))


def test_small_files_do_not_import_polars(tmp_path: Path) -> None:
    path = tmp_path / "progress.csv"
    path.write_bytes(b"step,loss\n" + b"1,0.5\n" * 1000)
    with mock.patch.object(csv_table, "read_segment", side_effect=AssertionError):
        assert read_csv_file(named(path)).rows == 1000


def test_without_polars_large_files_are_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "progress.csv"
    path.write_bytes(b"step,loss\n" + b"1,0.5\n" * 1000)
    with mock.patch.dict(sys.modules, {"polars": None}), blocks_of(100):
        assert read_csv_file(named(path), fast_bytes=0).rows == 1000


def both_ways(data: bytes, path: Path, size: int = 40) -> tuple[Table, bool]:
    """Check that polars changes nothing; whether it was used."""
    path.write_bytes(data)
    used: list[bool] = []

    def spy(*args: object) -> object:
        result = real(*args)  # type: ignore[arg-type]
        used.append(result is not None)
        return result

    real = csv_polars.read_segment
    with blocks_of(size), mock.patch.object(csv_table, "read_segment", spy):
        fast = read_csv_file(named(path), fast_bytes=0)
        assert_same(fast, read_csv(data))
    return fast, any(used)


@needs_polars
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["", "7,8", "7,8,9,0", '7,"x'])
def test_polars_reads_clean_rows_and_leaves_the_torn_one(tmp_path: Path, end: str, tail: str) -> None:
    rows = [f"{i},{i / 7 if i % 3 else ''},{'nan' if i % 5 else 1},{i % 2 == 0}" for i in range(50)]
    data = end.join(["step,loss,kl,done", *rows, tail]).encode()
    table, used = both_ways(data, tmp_path / "x.csv")
    assert used
    assert table.rows == 50 + (tail.count(",") == 3)


@needs_polars
@pytest.mark.parametrize(
    "line",
    [
        "",
        "1",
        "1,2",
        "1,2,3,4",
        "a,b,c",
        "#x,,",
        "1,x,3",
        '1,"2",3',
        "1,None,3",
        ",,",
        "1,2,\xff",
        "1,2,3 ",
        "1,\r2,3",
        "1,2\r,3",
    ],
)
def test_polars_never_changes_how_an_odd_line_of_numbers_is_read(tmp_path: Path, line: str) -> None:
    data = "a,b,c\n" + "1,2,3\n4,5,\n" * 20 + line + "\n" + "6,7,8\n" * 5
    both_ways(data.encode("latin-1"), tmp_path / "x.csv")


@needs_polars
@pytest.mark.parametrize(
    "line",
    [
        "",
        "x",
        "#x,,",
        "#,2,y",
        'x,2,"y"',
        '"x",2,y',
        "x\0,2,y",
        "x\r,2,y",
        "x,2,\xff",
        "x,2, ",
        "7,2,y",
        "x,2,y,z",
        "a,b,c",
    ],
)
def test_polars_never_changes_how_an_odd_line_with_text_is_read(tmp_path: Path, line: str) -> None:
    data = "a,b,c\n" + "x,2,y\nz,5,\n" * 20 + line + "\n" + "v,7,w\n" * 5
    both_ways(data.encode("latin-1"), tmp_path / "x.csv")


@st.composite
def nearly_clean(draw: st.DrawFn) -> bytes:
    """A table that polars can read, unless a row or two are odd."""
    kinds = [CELLS, CELLS, ["1", "2"], ["x", "yy", ""], ["True", "False", ""], ["None", "1"], ["0012", "ab"]]
    columns = [draw(st.sampled_from(kinds)) for _ in range(draw(st.integers(2, 4)))]
    row = st.tuples(*(st.sampled_from(cells) for cells in columns)).map(",".join)
    rows = draw(st.lists(row, min_size=2, max_size=10)) * 6
    odd = st.lists(st.sampled_from([*CELLS, *ODD_CELLS]), max_size=5).map(",".join)
    if draw(st.integers(0, 2)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), draw(odd))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    header = ",".join("abcd"[: len(columns)])
    return (end.join([header, *rows]) + draw(st.sampled_from([end, end, ""]))).encode()


@needs_polars
@given(nearly_clean(), st.integers(4, 60))
@settings(derandomize=True, max_examples=150)
def test_polars_and_the_plain_path_agree(tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int) -> None:
    _, used = both_ways(data, tmp_path_factory.getbasetemp() / "agree.csv", size)
    event(f"read by polars: {used}")
