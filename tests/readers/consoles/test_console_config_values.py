"""How values of settings are written."""

from __future__ import annotations

import pytest

from rlclinic.readers.consoles.config_values import closing_bracket, flatten, open_brackets, read_value, split_top_level


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-1", -1),
        ("1e-4", 1e-4),
        (".5", 0.5),
        ("true", True),
        ("null", None),
        ("", ""),
        ("'3'", "3"),
        ("[1, 2]", [1, 2]),
        ("[console,wandb]", ["console", "wandb"]),
        ("['console','wandb']", ["console", "wandb"]),
        ("[]", []),
        ("{'a': 1}", {"a": 1}),
        ("<Mode.FAST: 'fast'>", "fast"),
        ("it's", "it's"),
        ("1.2.3", "1.2.3"),
        ("[broken", "[broken"),
    ],
)
def test_every_spelling_is_read(text: str, value: object) -> None:
    read = read_value(text)
    assert read == value
    assert type(read) is type(value)


def test_nested_settings_are_flattened_and_empty_ones_kept() -> None:
    assert list(flatten({"a": {"b": {"c": 1}, "d": {}}, 5: [1]})) == [
        (("a", "b", "c"), 1),
        (("a", "d"), {}),
        (("5",), [1]),
    ]


def test_commas_inside_brackets_and_quotes_do_not_split() -> None:
    assert split_top_level("a=1, b=[1, 2], c='x, y', d=f(1, 2)") == ["a=1", " b=[1, 2]", " c='x, y'", " d=f(1, 2)"]


def test_brackets_in_quotes_do_not_count() -> None:
    assert open_brackets("{'a(': [1, (2") == ["{", "[", "("]
    assert closing_bracket("f('(', [1]) rest", 1) == 10
    assert closing_bracket("f('(', [1]", 1) == -1
