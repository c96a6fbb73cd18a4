"""The user's own training command as a template: `python train.py --lr {learning_rate} --seed {seed}`."""

from __future__ import annotations

import re
import shlex
import string
from collections.abc import Mapping
from itertools import takewhile
from pathlib import PurePath

from rlclinic.model.errors import UsageError

# Placeholders that rlclinic fills itself.
SEED, STEPS, FOLDER = "seed", "total_steps", "logdir"
OWN = frozenset({SEED, STEPS, FOLDER})
# Texts of a run that are passed on to the user's command.
_HARMLESS = re.compile(r"[A-Za-z0-9_.:/+][A-Za-z0-9_.:/+-]*")
# Programs that run a word of their command line, or the file that it names.
_INTERPRETER = re.compile(
    r"(ba|da|z|k|mk|a|c|tc|fi|pw)?sh|busybox|cmd|powershell|(python|pypy|perl|ruby|node|lua|php)[\d.]*"
)
# A word that was quoted because it is several: something takes it apart again.
_MANY_WORDS = re.compile(r"[\s;|&<>()$`'\"\\]")


def placeholders(template: str) -> tuple[str, ...]:
    """The names in braces, in order."""
    try:
        found = [name for _, name, form, conversion in string.Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise UsageError(f"--command: {error}", hint="write {key} for a value and {{ }} for plain braces") from error
    if any(not name.isidentifier() for name in found):
        raise UsageError("--command: only plain names may stand in braces", hint="for example {learning_rate}")
    return tuple(dict.fromkeys(found))


def check_places(template: str) -> None:
    """Refuse a template that puts a value of the run where a shell or an interpreter reads it as code."""
    words = _split(template)
    for index, word in enumerate(words):
        names = [name for name in placeholders(word) if name not in OWN]
        if names and (index == 0 or _MANY_WORDS.search(word) or _is_code(words, index)):
            raise UsageError(
                f"--command: {{{names[0]}}} stands where its value would be run as code: {word[:80]!r}",
                hint="pass it as an argument of its own: put the shell lines into a script and call the script",
            )


def _is_code(words: list[str], index: int) -> bool:
    """Whether a program takes the word for code or for the file that holds it, as in `sh -c WORD` or `python WORD`."""
    options = list(takewhile(lambda word: word.startswith("-") or word.lower() == "/c", reversed(words[:index])))
    program = words[index - len(options) - 1] if len(options) < index else ""
    return _INTERPRETER.fullmatch(PurePath(program).stem.lower()) is not None


def check_value(name: str, value: object) -> None:
    """Refuse a text of the run that a trainer could take for an option or for more than one word."""
    if not isinstance(value, bool | int | float) and not _HARMLESS.fullmatch(str(value)):
        raise UsageError(
            f"--command: the run's {name} = {str(value)[:80]!r} is not passed on: only letters, digits and _.:/+- are",
            hint=f"write the value into the command instead of {{{name}}}",
        )


def arguments(template: str, values: Mapping[str, object]) -> list[str]:
    """The command as a list of arguments. No shell is involved: a value never becomes more than one argument."""
    missing = [name for name in placeholders(template) if name not in values]
    if missing:
        raise UsageError(
            f"--command: no value for {', '.join(missing)}",
            hint="the run's config does not hold it; give it with --change, or write the value into the command",
        )
    words = [word.format_map({name: _text(value) for name, value in values.items()}) for word in _split(template)]
    if not words:
        raise UsageError("--command is empty")
    return words


def _split(template: str) -> list[str]:
    try:
        return shlex.split(template)
    except ValueError as error:
        raise UsageError(f"--command: {error}", hint="close the quotes") from error


def _text(value: object) -> str:
    """Plain decimals, because some parsers take 1e-05 for text."""
    if isinstance(value, float):
        text = f"{value:.12f}".rstrip("0").rstrip(".")
        return text if float(text or 0) == value else repr(value)
    return str(value)
