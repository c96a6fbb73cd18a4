"""Every command in every text that can be printed is one that the program has."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import click
import pytest

import rlclinic
from rlclinic.apps.cli.main import VERBS, WELCOME, app
from rlclinic.prescriptions.checks.class_tests import class_tests
from rlclinic.prescriptions.remedies.table import remedies
from rlclinic.readers.discover import find
from rlclinic.reports.diagnosis_text import diagnosis_text
from rlclinic.rules.documentation import page_of
from rlclinic.rules.registry import RULES
from tests.conftest import RUNS, diagnosis_of

SOURCE = Path(rlclinic.__file__).parent
QUOTED = re.compile(r"`(rlclinic [^`\n]+)`")
# What users type stands for itself in texts; a place for a value is a word.
PLACE = re.compile(r"\{(\w+)\}")


@cache
def verb_of(name: str) -> click.Command:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    return command


def problem(command: str) -> str:
    """Why the program would refuse the words of a command; empty where it takes them."""
    words = shlex.split(PLACE.sub(r"\1", command.replace("…", "")))[1:]
    if not words or words[0] in ("--version", "--help", "-h"):
        return ""
    verb, rest = (words[0], words[1:]) if words[0] in VERBS else ("diagnose", words)
    if verb == "diagnose" and words[0] != verb and not re.match(r"[A-Z@/.]|\w+/", words[0]):
        return f"{words[0]} is no verb"
    found = verb_of(verb)
    try:
        if isinstance(found, click.Group):
            return "" if not rest or found.get_command(click.Context(found), rest[0]) else f"{verb} has no {rest[0]}"
        _, left, _ = found.make_parser(click.Context(found)).parse_args(list(rest))
        return f"{left} is left over" if left else ""
    except click.UsageError as error:
        return error.format_message()


def strings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)


def test_a_command_that_does_not_exist_is_found() -> None:
    assert problem("rlclinic examin CartPole-v1") == "examin is no verb"
    assert "--gaol" in problem("rlclinic diagnose runs/x --gaol 5")
    assert problem("rlclinic fix 'my runs/x' --goal 5 --write") == ""
    assert problem("rlclinic runs/ppo --brief") == ""


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_command_that_a_source_file_quotes_parses(path: Path) -> None:
    wrong = {word: why for text in strings(path) for word in QUOTED.findall(text) if (why := problem(word))}
    assert wrong == {}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.toml")), ids=lambda path: path.name)
def test_every_command_in_a_table_parses(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert {word: why for word in QUOTED.findall(text) if (why := problem(word))} == {}


def test_every_command_in_remedies_tests_and_rules_parses() -> None:
    texts = [*class_tests().values(), WELCOME, *(str(item) for item in remedies().values())]
    texts += [section for row in RULES for section in page_of(row).sections.values()]
    found = [word for text in texts for word in QUOTED.findall(text)]
    assert len(found) >= 5
    assert {word: why for word in found if (why := problem(word))} == {}


def test_every_line_of_the_welcome_begins_with_a_command_that_exists() -> None:
    lines = [line.strip() for line in WELCOME.splitlines() if line.startswith("  rlclinic")]
    assert len(lines) > 10
    wrong = {line: why for line in lines if (why := problem(re.split(r"  +", line)[0]))}
    assert wrong == {}


@pytest.mark.parametrize("run", sorted(str(Path(ref.name).relative_to(RUNS)) for ref in find(RUNS)))
def test_every_command_of_a_diagnosis_parses(run: str) -> None:
    found = diagnosis_of(run)
    commands = [getattr(found.commands, field.name) for field in fields(found.commands)]
    words = [command for command in commands if command.startswith("rlclinic ")]
    words += QUOTED.findall(diagnosis_text(found, width=10_000, detail="full"))
    words += [command for line in found.answer.lines for _, command in line.commands]
    assert {word: why for word in words if (why := problem(word))} == {}
