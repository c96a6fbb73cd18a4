"""The readings all console parsers share."""

from __future__ import annotations

from math import isnan, nan

import pytest

from rlclinic.readers.consoles.rows import ConsoleRow, agree, decimals_by_key, join_repeats, numbers_of, read_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" 0.5 ", 0.5),
        ("np.float64(0.5)", 0.5),
        ("numpy.float32(0.5)", 0.5),
        ("tensor(0.5, device='cuda:0')", 0.5),
        ("True", 1.0),
        ("-1e-3", -0.001),
    ],
)
def test_numbers_are_read_in_every_wrapping(text: str, value: float) -> None:
    assert read_number(text) == value


@pytest.mark.parametrize("text", ["", "1_000", "abc", "0.5s", "f(0.5)", "np.float64()", "0x10", "--1"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert read_number(text) is None


def test_numbers_printed_as_strings_count_and_other_values_do_not() -> None:
    values = numbers_of({"loss": "0.0", "kl": "nan", "n": 3, "name": "run", "nested": {"a": 1}, "huge": 10**400})
    assert values.keys() == {"loss", "kl", "n"}
    assert isnan(values["kl"])


def test_rows_of_one_step_join_only_while_they_agree() -> None:
    rows = [
        ConsoleRow(1, 1, {"a": 1.0, "b": nan}),
        ConsoleRow(1, 2, {"b": nan, "c": 2.0}),
        ConsoleRow(1, 3, {"a": 5.0}),
    ]
    joined = join_repeats(rows)
    assert [row.line for row in joined] == [1, 3]
    assert joined[0].values.keys() == {"a", "b", "c"}


def test_a_validation_run_once_more_is_no_disagreement() -> None:
    assert agree({"val/acc": 0.5}, {"val/acc": 0.6})
    assert not agree({"value_loss": 0.5}, {"value_loss": 0.6})


def test_decimals_are_reported_only_where_every_print_agrees() -> None:
    rows = [
        ConsoleRow(1, 1, {}, {"a": "0.10", "b": "0.1", "c": "1e-5"}),
        ConsoleRow(2, 2, {}, {"a": "2.25", "b": "0.12", "c": "1e-5"}),
    ]
    assert decimals_by_key(rows) == {"a": 2}
