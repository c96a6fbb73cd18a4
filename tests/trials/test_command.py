"""The user's own command as a template."""

import pytest

from rlclinic.model.errors import UsageError
from rlclinic.trials.command import arguments, placeholders


def test_values_fill_the_braces_and_small_numbers_stay_plain_decimals() -> None:
    words = arguments("python train.py --lr {learning_rate} --out {logdir}", {"learning_rate": 1e-5, "logdir": "a b"})
    assert words == ["python", "train.py", "--lr", "0.00001", "--out", "a b"]


def test_a_value_never_becomes_more_than_one_argument_nor_reaches_a_shell() -> None:
    assert arguments("echo {name}", {"name": "x; rm -rf ~ $(id)"}) == ["echo", "x; rm -rf ~ $(id)"]


def test_values_too_small_for_plain_decimals_keep_their_digits() -> None:
    assert float(arguments("a {x}", {"x": 1.2345678901e-15})[1]) == 1.2345678901e-15


@pytest.mark.parametrize("template", ["a {x.y}", "a {x[0]}", "a {}", "a {0}"])
def test_only_plain_names_may_stand_in_braces(template: str) -> None:
    with pytest.raises(UsageError, match="plain names"):
        placeholders(template)


@pytest.mark.parametrize(("template", "words"), [("a {x", "brace|expected"), ("a 'b", "quot"), ("", "empty")])
def test_a_broken_template_is_a_clear_error(template: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        arguments(template, {"x": 1})


def test_a_value_that_nobody_knows_is_named() -> None:
    with pytest.raises(UsageError, match="no value for gamma"):
        arguments("a {gamma}", {"learning_rate": 1})
