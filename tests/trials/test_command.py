"""The user's own command as a template."""

import pytest

from rlclinic.model.errors import UsageError
from rlclinic.trials.command import arguments, check_places, check_value, placeholders


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


@pytest.mark.parametrize(
    "template",
    [
        "sh -c 'python train.py --env {env_id}'",
        "sh -c {env_id}",
        "/bin/bash -lc {env_id}",
        "env bash -e -c {env_id}",
        "python3.11 -c {env_id}",
        "python -c 'train(\"{env_id}\")'",
        "perl -e {env_id}",
        "node --eval {env_id}",
        "cmd.exe /c {env_id}",
        "ssh host 'python train.py; echo {env_id}'",
        "{env_id} --seed 1",
        "python {policy_class} 1",
        "python -m {policy_class}",
        "bash -x {policy_class}",
    ],
)
def test_a_value_of_the_run_never_stands_where_it_is_run_as_code(template: str) -> None:
    with pytest.raises(UsageError, match="run as code"):
        check_places(template)


@pytest.mark.parametrize(
    "template",
    [
        "python train.py -e {env_id} -r {reward_scale} -c {clip_range}",
        "bash train.sh {env_id} --out={logdir}",
        "sh -c 'cd here && python train.py --out {logdir} --seed {seed}'",
        "python -m train env={env_id} lr={learning_rate}",
        "uv run train.py --lr {learning_rate}",
    ],
)
def test_ordinary_commands_take_the_values_of_a_run(template: str) -> None:
    check_places(template)


@pytest.mark.parametrize("value", ["-rf", "--help", "a b", "a;b", "$(id)", "`id`", "", "a\nb", "é", [64, 64]])
def test_a_text_of_the_run_that_is_no_plain_word_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match="not passed on"):
        check_value("env_id", value)


@pytest.mark.parametrize("value", ["CartPole-v1", "ALE/Pong-v5", "my.module:Env", 3e-4, -1, True, "linear"])
def test_plain_words_and_numbers_of_the_run_are_passed_on(value: object) -> None:
    check_value("env_id", value)
