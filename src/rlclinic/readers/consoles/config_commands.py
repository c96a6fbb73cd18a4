"""Settings given on a command line, and the overrides Hydra repeats when a job fails.

python3 -m verl.trainer.main_ppo data.train_batch_size=512 +trainer.val_before_train=True
Error executing job with overrides: ['data.train_batch_size=512', 'algorithm.adv_estimator=grpo']
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.consoles.config_values import Setting, known_names, read_value
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.python_literal import parse_literal

# Longest command, in lines joined by a backslash and in characters.
MAX_LINES = 500
MAX_CHARACTERS = 200_000

OVERRIDES = "Error executing job with overrides:"

# Modules that start another program; its own settings come after its name.
LAUNCHERS = ("torch.distributed", "accelerate", "deepspeed")
# Commands of trainers themselves, followed by what is trained: `trl grpo --beta 0`.
TRAINERS = ("trl", "swift", "openrlhf")

_COMMAND = re.compile(
    r"\s*(?:\+{1,4} |[$#%>] |(?:command|cmd)\s?[:=] ?)?"
    r"(?:[A-Z_][A-Z0-9_]*=\S{0,200} ){0,20}"
    r"(?:\S{0,200}/)?(?:python[\d.]*|torchrun|accelerate|deepspeed|bash|sh|uv|srun|nohup|trl|swift|openrlhf)\s"
)
_DOTTED = re.compile(r"(\+{0,2})([A-Za-z_][\w/@-]*(?:\.[\w/@-]+)*)=(.*)", re.DOTALL)
_FLAG = re.compile(r"--?([A-Za-z][\w.\-]*)(?:=(.*))?", re.DOTALL)
_SHELL = re.compile(r"[|&;<>]|\d>|#$")
_NUMERIC = re.compile(r"-\.?\d")


@dataclass(frozen=True, slots=True)
class Command:
    """One start of a program: its module or file, its arguments, and the 1-based line that it begins on."""

    program: str
    arguments: Sequence[str]
    line: int


def override_settings(lines: Sequence[str]) -> list[Setting]:
    """The overrides of failed Hydra jobs."""
    settings: list[Setting] = []
    for number, line in enumerate(lines, start=1):
        start = line.find(OVERRIDES)
        bracket = line.find("[", start) if start >= 0 else -1
        if bracket < 0:
            continue
        try:
            overrides, _ = parse_literal(line, bracket)
        except FormatError:
            continue
        if isinstance(overrides, list):
            texts = [text for text in overrides if isinstance(text, str)]
            settings.extend(Setting(name, value, number) for name, value in _overrides(texts))
    return settings


def command_settings(lines: Sequence[str]) -> list[Setting]:
    """The settings on the command lines of training programs, which name a hyperparameter or a dotted setting."""
    settings: list[Setting] = []
    for command in commands(lines):
        found = argument_settings(command.arguments)
        if known_names(found) or any("." in name for name in found):
            settings.extend(Setting(name, value, command.line) for name, value in found.items())
    return settings


def commands(lines: Sequence[str]) -> Iterator[Command]:
    """The command lines with settings, those that a backslash continues joined."""
    index = 0
    while index < len(lines):
        used = 1
        if ("=" in lines[index] or "--" in lines[index] or lines[index].endswith("\\")) and _COMMAND.match(
            lines[index]
        ):
            command, used = _joined(lines, index)
            yield Command(*_arguments(_words(command)), index + 1)
        index += used


def argument_settings(arguments: Sequence[str]) -> dict[str, object]:
    """What the arguments of a program set: `lr=0.1`, `--lr 0.1`, `--lr=0.1`."""
    return dict([*_overrides(arguments), *_flags(arguments)])


def _joined(lines: Sequence[str], index: int) -> tuple[str, int]:
    pieces, used = [lines[index]], 1
    while pieces[-1].rstrip().endswith("\\") and index + used < len(lines) and used < MAX_LINES:
        pieces[-1] = pieces[-1].rstrip()[:-1]
        pieces.append(lines[index + used])
        used += 1
    return " ".join(pieces)[:MAX_CHARACTERS], used


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    # A script may take all overrides as one quoted word.
    return [part for word in words for part in (word.split() if word.count("=") > 1 else [word])]


def _arguments(command: Sequence[str]) -> tuple[str, list[str]]:
    """The program's name and what follows it, up to a pipe or another command."""
    end = next((position for position, word in enumerate(command) if _SHELL.match(word)), len(command))
    words = command[:end]
    for position, word in enumerate(words[:-1]):
        if word == "-m" and not words[position + 1].startswith(LAUNCHERS):
            return words[position + 1], list(words[position + 2 :])
    for position, word in enumerate(words):
        if word.endswith((".py", ".sh")) and "=" not in word:
            return word, list(words[position + 1 :])
    for position, word in enumerate(words[:-1]):
        if word in TRAINERS:
            return f"{word}.{words[position + 1]}", list(words[position + 2 :])
    return "", []


def _overrides(arguments: Sequence[str]) -> Iterator[tuple[str, object]]:
    for argument in arguments:
        match = _DOTTED.fullmatch(argument)
        if match and not argument.startswith("-"):
            yield match.group(2), read_value(match.group(3))


def _flags(arguments: Sequence[str]) -> Iterator[tuple[str, object]]:
    position = 0
    while position < len(arguments):
        match = _FLAG.fullmatch(arguments[position])
        position += 1
        if match is None or _NUMERIC.match(arguments[position - 1]):
            continue
        name, value = match.groups()
        values = [value] if value is not None else []
        while value is None and position < len(arguments) and _is_value(arguments[position]):
            values.append(arguments[position])
            position += 1
        read = [read_value(text) for text in values]
        yield name.replace("-", "_"), read if len(read) > 1 else read[0] if read else True


def _is_value(word: str) -> bool:
    return not word.startswith("-") or bool(_NUMERIC.match(word))
