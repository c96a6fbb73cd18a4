"""The user's own training command as a template: `python train.py --lr {learning_rate} --seed {seed}`."""

from __future__ import annotations

import shlex
import string
from collections.abc import Mapping

from rlclinic.model.errors import UsageError

# Placeholders that rlclinic fills itself.
SEED, STEPS, FOLDER = "seed", "total_steps", "logdir"
OWN = frozenset({SEED, STEPS, FOLDER})


def placeholders(template: str) -> tuple[str, ...]:
    """The names in braces, in order."""
    try:
        found = [name for _, name, form, conversion in string.Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise UsageError(f"--command: {error}", hint="write {key} for a value and {{ }} for plain braces") from error
    if any(not name.isidentifier() for name in found):
        raise UsageError("--command: only plain names may stand in braces", hint="for example {learning_rate}")
    return tuple(dict.fromkeys(found))


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
