"""A number is read back as that number, by every parser that may meet it."""

from __future__ import annotations

import ast
import json
import tomllib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rlclinic.prescriptions.syntax.assignment import CannotWrite
from rlclinic.prescriptions.syntax.spelling import (
    decimal_text,
    flag_text,
    hydra_text,
    json_text,
    number_text,
    python_text,
    toml_text,
    yaml_text,
)

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**12), 10**12)


@given(NUMBERS)
def test_a_number_survives_every_parser(value: float) -> None:
    text = number_text(value)
    read = [yaml.safe_load(text), json.loads(text), tomllib.loads(f"x = {text}")["x"], ast.literal_eval(text)]
    assert [(type(found), found) for found in read] == [(type(value), value)] * 4


@given(NUMBERS)
def test_a_plain_decimal_has_no_exponent_and_the_same_value(value: float) -> None:
    text = decimal_text(value)
    assert set(text) <= set("-.0123456789")
    assert type(value)(text) == value
    assert ("." in text) == isinstance(value, float)


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20))
def test_text_survives_yaml_json_and_python(value: str) -> None:
    assert yaml.safe_load(f"key: {yaml_text(value)}") == {"key": value}
    assert json.loads(json_text(value)) == value
    assert ast.literal_eval(python_text(value)) == value


@pytest.mark.parametrize("value", [True, False, None, [64, 64], {"start": 1e-3, "end": 0.0}, [[0, 1e-5], [10, 0.0]]])
def test_other_values_survive_yaml_and_json(value: object) -> None:
    assert yaml.safe_load(yaml_text(value)) == value
    assert json.loads(json_text(value)) == value


def test_words_that_yaml_would_read_as_something_else_are_quoted() -> None:
    assert [yaml_text(word) for word in ("on", "null", "1e-3x", "adam", "lin_0.001", "12")] == [
        '"on"', '"null"', '"1e-3x"', "adam", "lin_0.001", '"12"'
    ]  # fmt: skip


def test_what_a_syntax_cannot_hold_is_refused() -> None:
    with pytest.raises(CannotWrite):
        toml_text(None)
    with pytest.raises(CannotWrite):
        flag_text([1, 2])
    with pytest.raises(CannotWrite):
        python_text(object())


def test_a_list_is_quoted_for_the_shell_in_an_override() -> None:
    assert hydra_text([64, 64]) == "'[64,64]'"
