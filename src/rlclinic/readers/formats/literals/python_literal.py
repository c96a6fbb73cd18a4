"""Python values as they are printed in logs and table cells, read without ever evaluating them.

More is accepted than `ast.literal_eval` knows: nan, numpy scalars, arrays, tensors, ordered dicts, paths, enum
and object reprs, names without quotes. Tuples stay tuples, sets become lists, what is only known by its repr
becomes a string.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.parser import LiteralParser, Path, TornError
from rlclinic.readers.redaction.redact import redacted_head


@dataclass(frozen=True, slots=True)
class LiteralDocument:
    """A value, the 1-based line of every key and item by path, and the offset behind the value."""

    data: object
    lines: Mapping[Path, int]
    end: int


def load_literal(text: str) -> object:
    """The value that the whole text is; FormatError if it is not one."""
    value, end = parse_literal(text)
    rest = text[end:].strip()
    if rest:
        raise FormatError(f"unexpected {redacted_head(rest, 20)!r} behind the value", line=_line(text, end))
    return value


def parse_literal(text: str, start: int = 0) -> tuple[object, int]:
    """The value that begins at `start` (blanks before it are skipped) and the offset behind it."""
    return _parsed(LiteralParser(text), start)


def load_literal_lines(text: str, start: int = 0) -> LiteralDocument:
    """Like parse_literal, with the line of `text` on which each key or item stands."""
    parser = LiteralParser(text)
    data, end = _parsed(parser, start)
    breaks = [found.start() for found in re.finditer("\n", text[:end])]
    lines = {path: bisect.bisect_left(breaks, at) + 1 for path, at in parser.places.items()}
    return LiteralDocument(data, lines, end)


def _parsed(parser: LiteralParser, start: int) -> tuple[object, int]:
    try:
        return parser.value(start)
    except TornError as torn:
        raise FormatError(torn.reason, line=_line(parser.text, torn.at)) from None
    except RecursionError:  # only when the caller's own stack is nearly full
        raise FormatError("nested too deeply", line=_line(parser.text, start)) from None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
