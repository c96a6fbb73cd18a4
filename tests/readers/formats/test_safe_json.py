"""JSON with lines: the data of the standard library, every line true, no other error than FormatError."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json, load_json_data


def test_every_value_has_the_line_of_its_key_or_item() -> None:
    document = load_json('{"a": {"b": [1,\n 2, {"c":\n NaN}]},\n "d": {},\n "e\\n": "x\\"{,[",\n "f": []}')

    assert document.lines == {
        (): 1, ("a",): 1, ("a", "b"): 1, ("a", "b", 0): 1, ("a", "b", 1): 2, ("a", "b", 2): 2, ("a", "b", 2, "c"): 2,
        ("d",): 4, ("e\n",): 5, ("f",): 6,
    }  # fmt: skip
    assert document.problems == ()


def test_non_finite_numbers_and_a_mark_are_accepted() -> None:
    data = load_json('\ufeff{"a": [Infinity, -Infinity, NaN]}').data

    assert isinstance(data, dict)
    assert data["a"][:2] == [math.inf, -math.inf]
    assert math.isnan(data["a"][2])


def test_a_key_given_twice_is_noted_and_the_last_counts() -> None:
    document = load_json('{"lr": 1,\n"lr": 2}')

    assert document.data == {"lr": 2}
    assert document.lines["lr",] == 2
    assert document.problems == ("line 2: 'lr' is given twice, the last one counts",)


def test_a_scalar_is_a_document() -> None:
    assert load_json("\n 5").data == 5
    assert load_json("\n 5").lines == {(): 2}


@pytest.mark.parametrize(
    ("text", "line"), [("", 1), ('{"a": 1,\n "b": }', 2), ("[1,\n2,\n", 3), ("{'a': 1}", 1), ("[1]\n x", 2), ("nul", 1)]
)
def test_broken_json_is_a_format_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        load_json(text)

    assert caught.value.line == line


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500, "[" * 102 + "]" * 102])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        load_json(text)
    with pytest.raises(FormatError):
        load_json_data(text)


def test_nesting_that_a_config_could_have_is_read() -> None:
    assert load_json("[" * 90 + "1" + "]" * 90).lines[(0,) * 90] == 1


def test_an_integer_too_long_for_python_becomes_an_infinity() -> None:
    assert load_json('{"a": ' + "9" * 5000 + ', "b": 3}').data == {"a": math.inf, "b": 3}


def test_half_a_surrogate_pair_can_be_written_again() -> None:
    document = load_json('{"\\ud800": "\\udfff", "ok": "\\ud83d\\ude00"}')

    assert document.data == {"?": "?", "ok": "😀"}
    assert ("?",) in document.lines


def test_a_text_beyond_config_size_has_no_lines_but_data() -> None:
    text = "[" + "1," * (4 << 20) + "1]"
    with pytest.raises(FormatError, match="more than a config has"):
        load_json(text)
    data = load_json_data(text)

    assert isinstance(data, list)
    assert len(data) == (4 << 20) + 1


_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=15,
)


@settings(derandomize=True, max_examples=300)
@given(_DATA, st.sampled_from([None, 0, 2]))
def test_data_and_paths_agree_with_the_standard_library(data: object, indent: int | None) -> None:
    text = json.dumps(data, indent=indent)
    document = load_json(text)

    assert document.data == data
    assert set(document.lines) == set(_paths(data, ()))
    assert all(1 <= line <= text.count("\n") + 1 for line in document.lines.values())


@settings(derandomize=True, max_examples=300)
@given(_DATA, st.integers(0, 60), st.text('{}[],:"\\ \n1aN', max_size=3))
def test_damaged_json_is_read_or_refused(data: object, at: int, piece: str) -> None:
    text = json.dumps(data, indent=1)
    for damaged in (text[:at], text[:at] + piece + text[at:], text[:at] + text[at + 1 :]):
        _read_or_refuse(damaged)


@settings(derandomize=True, max_examples=300)
@given(st.text(max_size=60) | st.text('{}[],:"\\ \n1eE.-tfnNI', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    _read_or_refuse(text)


def _paths(data: object, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    found = [path]
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        found += _paths(value, (*path, key))
    return found


def _read_or_refuse(text: str) -> None:
    try:
        document = load_json(text)
    except FormatError:
        with pytest.raises(FormatError):
            load_json_data(text)
        return
    assert document.lines[()] >= 1
