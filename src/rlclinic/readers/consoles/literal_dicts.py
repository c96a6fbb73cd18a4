"""Reads a Python dict printed inside a line, whole or as far as its plain numbers go."""

from __future__ import annotations

import re

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.consoles.rows import read_number
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.python_literal import parse_literal

_PAIR = re.compile(
    r"""(?P<quote>['"])(?P<key>[^'"]{1,300})(?P=quote):\s?"""
    r"""(?P<value>(?:[a-z]+\.)?[a-z]+\d*\((?P<inner>[^()]{1,80})\)|[^,{}'"\s]{1,60})(?=[,}\s])"""
)


@dataclass(frozen=True, slots=True)
class PrintedDict:
    """A dict read from a line."""

    values: dict[object, object]
    whole: bool
    """False if something in it could not be read and only name: number pairs were kept."""
    end: int
    """Where the text goes on behind it."""


def read_dict(text: str, start: int) -> PrintedDict | None:
    """The dict that starts at this brace; None if there is none."""
    try:
        value, end = parse_literal(text, start)
    except FormatError:
        return _salvaged(text, start)
    return PrintedDict(value, whole=True, end=end) if isinstance(value, dict) else None


def _salvaged(text: str, start: int) -> PrintedDict | None:
    pairs = {match["key"]: read_number(match["value"]) for match in _PAIR.finditer(text, start)}
    numbers: dict[object, object] = {key: number for key, number in pairs.items() if number is not None}
    return PrintedDict(numbers, whole=False, end=len(text)) if numbers else None
