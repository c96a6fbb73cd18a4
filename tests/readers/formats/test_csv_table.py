from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.tables import builder as table_builder
from rlclinic.readers.formats.tables import cells as table_cells
from rlclinic.readers.formats.tables.csv_table import parse_number, read_csv
from tests.readers.formats.table_checks import numbers

# cells


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        (" 3 ", 3.0),
        ("-inf", -math.inf),
        ("Infinity", math.inf),
        ("True", 1.0),
        ("false", 0.0),
        ("tensor(0.5)", 0.5),
        ("tensor(-1.5e-05, device='cuda:0', grad_fn=<MeanBackward0>)", -1.5e-05),
        ("np.float32(2.5)", 2.5),
        ("1e400", math.inf),
    ],
)
def test_a_number_is_read_as_training_programs_write_it(text: str, value: float) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["nan", "NaN", " nan ", "tensor(nan)", "-nan"])
def test_a_written_nan_is_a_number(text: str) -> None:
    value = parse_number(text)
    assert value is not None
    assert math.isnan(value)


@pytest.mark.parametrize(
    "text", ["", " ", "None", "1,234", "1_000", "0x10", "abc", "٣", "[1.0]", "tensor([1., 2.])", "1.5.2", "--1"]
)
def test_what_is_not_a_number_is_none(text: str) -> None:
    assert parse_number(text) is None


@given(st.floats(allow_nan=False))
@settings(derandomize=True, max_examples=200)
def test_every_float_survives_writing_and_reading(value: float) -> None:
    table = read_csv(f"a,b\n{value!r},0\n".encode())
    assert table.numbers["a"].tolist() == [value]


# columns


def test_an_empty_cell_is_a_gap_and_a_logged_nan_is_not() -> None:
    table = read_csv(b"step,loss\n1,\n2,nan\n3,0.5\n4,None\n")
    assert table.gaps("loss").tolist() == [True, False, False, True]
    assert np.isnan(table.numbers["loss"]).tolist() == [True, True, False, True]
    assert table.gaps("step").tolist() == [False] * 4
    assert "step" not in table.missing
    assert table.problems == ()


def test_a_column_without_any_value_is_numeric_and_all_gaps() -> None:
    table = read_csv(b"step,eval\n1,\n2,\n")
    assert numbers(table, "eval") == [None, None]


def test_garbage_in_a_numeric_column_is_a_gap_with_a_note_that_names_the_line() -> None:
    table = read_csv(b"step,loss\n1,0.5\n2,oops\n3,0.25\n4,0.2\n5,bad\n")
    assert numbers(table, "loss") == [0.5, None, 0.25, 0.2, None]
    assert table.problems == ("line 3: 'oops' in column 'loss' is not a number; read as a gap (2 such cells)",)


def test_a_column_with_as_much_text_as_numbers_is_text_as_written() -> None:
    table = read_csv(b"id,step\n0012,1\n12ab,2\n,3\nff00,4\n")
    assert table.texts["id"] == ("0012", "12ab", "", "ff00")
    assert list(table.numbers) == ["step"]


def test_digit_groups_and_foreign_digits_are_text_in_bulk_too() -> None:
    table = read_csv("a,b,c\n1_0,٣,1\n2_0,٤,2\n".encode())
    assert table.texts == {"a": ("1_0", "2_0"), "b": ("٣", "٤")}


def test_truth_values_are_numbers() -> None:
    table = read_csv(b"done,step\nFalse,1\nTrue,2\n,3\n")
    assert numbers(table, "done") == [0.0, 1.0, None]


def test_a_column_of_dicts_stays_text_with_its_commas_and_quotes() -> None:
    info = "{'lr': 0.1, 'name': \"x\", 'grad': None}"
    file = io.StringIO()
    csv.writer(file).writerows([["step", "info"], [1, info], [2, info]])
    table = read_csv(file.getvalue().encode())
    assert table.texts["info"] == (info, info)
    assert table.numbers["step"].tolist() == [1, 2]
    assert table.problems == ()


def test_a_long_text_cell_is_cut() -> None:
    table = read_csv(b"step,info\n1," + b"x" * 1_000_000 + b"\n")
    assert len(table.texts["info"][0]) == table_cells.MAX_TEXT_LENGTH


def test_text_columns_beyond_the_limit_are_left_out_with_a_note() -> None:
    names = [f"c{index}" for index in range(table_builder.MAX_TEXT_COLUMNS + 3)]
    table = read_csv(",".join(names).encode() + b"\n" + b",".join([b"word"] * len(names)) + b"\n")
    assert len(table.texts) == table_builder.MAX_TEXT_COLUMNS
    assert table.columns == tuple(names)
    assert table.problems == ("there are too many text cells; some text columns were left out",)


def test_arrays_cannot_be_written_to() -> None:
    table = read_csv(b"a,b\n1,\n")
    with pytest.raises(ValueError, match="read-only"):
        table.numbers["a"][0] = 5
    with pytest.raises(ValueError, match="read-only"):
        table.missing["b"][0] = False


# headers


def test_repeated_column_names_get_a_number() -> None:
    table = read_csv(b"a,b,a,a\n1,2,3,4\n")
    assert table.columns == ("a", "b", "a#2", "a#3")
    assert table.numbers["a#3"].tolist() == [4]


def test_an_unnamed_column_gets_a_name_and_a_trailing_delimiter_none() -> None:
    table = read_csv(b",a,\n0,1,\n1,2,\n")
    assert table.columns == ("column_1", "a")
    assert table.numbers["a"].tolist() == [1, 2]
    assert table.problems == ()


def test_names_for_a_file_without_header_can_be_given() -> None:
    table = read_csv(b"1,125000,3.12\n2,250000,3.06\n", header=["epoch", "step", "value"])
    assert table.numbers["step"].tolist() == [125000, 250000]
    assert table.problems == ()


def test_given_names_give_way_to_a_header_in_the_file() -> None:
    table = read_csv(b"epoch,grad\n1,0.5\n", header=["epoch", "step", "value"])
    assert table.columns == ("epoch", "grad")
    assert table.rows == 1
    assert table.problems == ("the file has a header of its own; its names were used",)


def test_a_file_of_numbers_only_loses_no_row_to_a_header() -> None:
    table = read_csv(b"1,0.5\n2,\n")
    assert table.columns == ("column_1", "column_2")
    assert numbers(table, "column_2") == [0.5, None]
    assert table.problems == ("there is no header line; the columns are numbered",)


def test_a_commented_header_as_numpy_writes_it_names_the_columns() -> None:
    table = read_csv(b"# step reward\n1 0.5\n2 0.75\n")
    assert table.columns == ("step", "reward")
    assert table.numbers["reward"].tolist() == [0.5, 0.75]


def test_leading_comments_are_kept_without_the_sign() -> None:
    table = read_csv(b'#{"t_start": 1.5, "env_id": "CartPole-v1"}\nr,l,t\n26.0,26,2.5\n')
    assert table.comments == ('{"t_start": 1.5, "env_id": "CartPole-v1"}',)
    assert table.columns == ("r", "l", "t")
    assert table.numbers["l"].tolist() == [26]
    assert table.problems == ()


def test_a_header_alone_is_a_table_without_rows() -> None:
    table = read_csv(b"time,total_timesteps,epoch\r\n")
    assert table.columns == ("time", "total_timesteps", "epoch")
    assert table.rows == 0
    assert table.numbers["epoch"].shape == (0,)
    assert table.problems == ()


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b"# only a comment\n", b"\0\0\0\0"])
def test_a_file_without_a_table_says_so(data: bytes) -> None:
    table = read_csv(data)
    assert table.columns == ()
    assert table.rows == 0
    assert "there is no table in the file" in table.problems


def test_a_header_in_the_middle_is_skipped_with_a_note() -> None:
    table = read_csv(b"step,loss\n1,0.5\nstep,loss\n2,0.25\n")
    assert table.numbers["step"].tolist() == [1, 2]
    assert table.problems == ("line 3: repeats the header; skipped",)


def test_a_different_header_in_the_middle_takes_over() -> None:
    table = read_csv(b"step,loss\n1,0.5\nstep,kl,loss\n2,0.01,0.25\n3,0.02,0.2\n")
    assert table.columns == ("step", "loss", "kl")
    assert numbers(table, "step") == [1, 2, 3]
    assert numbers(table, "loss") == [0.5, 0.25, 0.2]
    assert numbers(table, "kl") == [None, 0.01, 0.02]
    assert table.problems == ("line 3: a different header; the rows below are read under it",)


def test_a_different_header_without_a_common_name_takes_over_if_the_rows_fit() -> None:
    table = read_csv(b"a,b\n1,2\nstep,kl,loss\n2,0.01,0.25\n")
    assert table.columns == ("a", "b", "step", "kl", "loss")
    assert numbers(table, "loss") == [None, 0.25]


@pytest.mark.parametrize(
    "row", ["oops,bad", "error in step", "File x line 3, in main, failed", "ERROR,ERROR,ERROR", "loss,loss"]
)
def test_words_between_the_rows_are_no_header(row: str) -> None:
    table = read_csv(f"step,loss\n1,0.5\n{row}\n2,0.25\n3,0.2\n4,0.1\n".encode())
    assert table.columns == ("step", "loss")
    assert numbers(table, "loss")[:1] == [0.5]
    assert numbers(table, "loss")[-3:] == [0.25, 0.2, 0.1]
    assert table.problems


def test_rows_of_a_text_table_are_not_taken_for_headers() -> None:
    table = read_csv(b"event,detail\nstart,event\nstop,detail\n")
    assert table.rows == 2
    assert table.texts["event"] == ("start", "stop")


# torn and ragged rows


def test_a_half_written_last_row_is_dropped_with_a_note() -> None:
    table = read_csv(b"step,loss,kl\n1,0.5,0.01\n2,0.2")
    assert table.rows == 1
    assert table.problems == ("line 3: torn last row dropped (2 of 3 cells)",)


def test_a_last_row_with_all_cells_but_no_line_end_is_kept_with_a_note() -> None:
    table = read_csv(b"step,loss\n1,0.5\n2,0.2")
    assert table.numbers["loss"].tolist() == [0.5, 0.2]
    assert table.problems == ("line 3: the last row has no line end; its last cell may be cut short",)


def test_a_row_torn_inside_a_quoted_cell_of_several_lines_is_dropped() -> None:
    table = read_csv(b'step,info\n1,"a\nb"\n2,"c\nd\n')
    assert table.numbers["step"].tolist() == [1]
    assert table.texts["info"] == ("a\nb",)
    assert table.problems == ("line 4: torn last row dropped (a quote is still open)",)


def test_a_stray_quote_does_not_swallow_the_rows_below() -> None:
    table = read_csv(b'step,name\n1,"oops\n2,b\n3,c\n')
    assert table.numbers["step"].tolist() == [1, 2, 3]
    assert table.texts["name"] == ('"oops', "b", "c")
    assert table.problems == ("line 2: a quote is opened and never closed; taken as it stands",)


def test_missing_trailing_cells_are_gaps_and_extra_cells_are_left_out() -> None:
    table = read_csv(b"a,b,c\n1,2\n1,2,3\n1,2,3,4,5\n1\n")
    assert numbers(table, "c") == [None, 3, 3, None]
    assert table.problems == (
        "line 2 and 1 more: fewer cells than the header; the rest are gaps",
        "line 4: more cells than the header; the extra ones were left out",
    )


def test_a_header_torn_at_its_end_is_noted() -> None:
    table = read_csv(b"step,lo")
    assert table.columns == ("step", "lo")
    assert table.problems == ("the header has no line end; its last name may be cut short",)


def test_a_comment_between_the_rows_is_kept_as_it_stands() -> None:
    table = read_csv(b'a,b\n1,2\n#{"t": 1.5, "env_id":"x"}\n3,4\n')
    assert table.numbers["a"].tolist() == [1, 3]
    assert table.comments == ('{"t": 1.5, "env_id":"x"}',)
    assert table.problems == ("line 3: comment between the rows",)


@given(st.data())
@settings(derandomize=True, max_examples=60)
def test_a_file_cut_anywhere_gives_the_rows_before_the_cut(data: st.DataObject) -> None:
    whole = "step,loss,name\r\n" + "".join(f'{i},{i / 7},"n, {i}"\r\n' for i in range(20))
    cut = data.draw(st.integers(len("step,loss,name\r\n"), len(whole)))
    table = read_csv(whole[:cut].encode())
    complete = whole[:cut].count("\r\n") - 1
    assert complete <= table.rows <= complete + 1
    assert table.numbers["loss"][:complete].tolist() == [i / 7 for i in range(complete)]


# delimiters, encodings, line ends


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " ", "   "])
def test_the_delimiter_is_found_out(delimiter: str) -> None:
    rows = [["step", "mean_reward", "kl"], ["1", "0.5", "0.1"], ["2", "0.75", "0.2"]]
    table = read_csv("".join(delimiter.join(row) + "\n" for row in rows).encode())
    assert table.columns == ("step", "mean_reward", "kl")
    assert table.numbers["mean_reward"].tolist() == [0.5, 0.75]


def test_spaces_and_commas_in_names_do_not_mislead_the_search_for_the_delimiter() -> None:
    table = read_csv(b"steps\tmean 100 episode reward\tloss, total\n1\t0.5\t2\n2\t0.75\t3\n")
    assert table.columns == ("steps", "mean 100 episode reward", "loss, total")


def test_a_single_row_of_numbers_between_spaces_is_split() -> None:
    table = read_csv(b"1600000000000 0.5 10\n", header=["time", "value", "step"])
    assert numbers(table, "step") == [10]


def test_a_single_column_needs_no_delimiter() -> None:
    table = read_csv(b"mean reward\n1\n\n2\n")
    assert table.columns == ("mean reward",)
    assert table.numbers["mean reward"].tolist() == [1, 2]


def test_a_given_delimiter_is_used() -> None:
    table = read_csv(b"a;b,c\n1;2\n", delimiter=";")
    assert table.columns == ("a", "b,c")


@pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n"])
def test_an_impossible_delimiter_is_refused(delimiter: str) -> None:
    with pytest.raises(ValueError, match="one character"):
        read_csv(b"a,b\n", delimiter=delimiter)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_encodings_give_the_same_numbers(encoding: str) -> None:
    table = read_csv("step,loss\n1,0.5\n2,0.25\n".encode(encoding))
    assert table.columns == ("step", "loss")
    assert table.numbers["loss"].tolist() == [0.5, 0.25]


def test_a_big_endian_byte_order_mark_is_understood() -> None:
    table = read_csv(b"\xfe\xff" + "größe,b\n1,2\n".encode("utf-16-be"))
    assert table.columns == ("größe", "b")


def test_latin_1_is_read_with_a_note() -> None:
    table = read_csv("größe,b\n1,2\n".encode("latin-1"))
    assert table.columns == ("größe", "b")
    assert table.problems == ("line 1: bytes from here on are not UTF-8; read as Latin-1",)


def test_a_character_torn_at_the_end_does_not_change_the_encoding() -> None:
    table = read_csv("größe,b\n1,é".encode()[:-1])
    assert table.columns == ("größe", "b")
    assert not any("Latin-1" in problem for problem in table.problems)


def test_nul_bytes_are_removed_with_a_note() -> None:
    table = read_csv(b"a,b\n1,2\n" + b"\0" * 5000)
    assert table.numbers["b"].tolist() == [2]
    assert len(table.problems) == 1
    assert "NUL bytes" in table.problems[0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_understood(end: str) -> None:
    table = read_csv(end.join(["a,b", "1,2", "3,4", ""]).encode())
    assert table.numbers["b"].tolist() == [2, 4]
    assert table.problems == ()


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends() -> None:
    table = read_csv(b'a,"b ""x"", y",c\n1,"two\nlines, ""quoted""",2\n3, "z" ,4\n')
    assert table.columns == ("a", 'b "x", y', "c")
    assert table.texts['b "x", y'] == ('two\nlines, "quoted"', "z")
    assert table.numbers["c"].tolist() == [2, 4]


def test_a_line_of_a_million_characters_is_read() -> None:
    names = [f"c{index}" for index in range(10_000)]
    row = ["0.123456789"] * 10_000
    file = io.StringIO()
    csv.writer(file).writerows([[*names], row, [f'"{"x" * 2_000_000}"', *row[1:]]])
    table = read_csv(file.getvalue().encode())
    assert table.rows == 2
    assert table.numbers["c9999"].tolist() == [0.123456789] * 2
