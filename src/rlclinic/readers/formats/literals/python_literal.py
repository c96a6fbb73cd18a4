"""Python values as they are printed in logs and table cells, read without ever evaluating them.

More is accepted than `ast.literal_eval` knows: nan, numpy scalars, arrays, tensors, ordered dicts, paths, enum
and object reprs, names without quotes. Tuples stay tuples, sets become lists, what is only known by its repr
becomes a string.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.parser import LiteralParser, Path, TornError
from rlclinic.readers.redaction.redact import redacted_head

# How often, on average, find_literals may read a character again after a brace that began no dict.
_REREADS = 2

# `{'` or `{1`: a brace in prose or LaTeX is followed by something else. `("`: pprint wraps long strings so.
_CANDIDATE = re.compile(
    r"\{\s*+(?=[bBuUrR]?['\"]|[-+(<\d])|(?:OrderedDict|defaultdict)\((?=[\[({<])|^[ \t]*+\((?=['\"])", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class LiteralDocument:
    """A value, the 1-based line of every key and item by path, and the offset behind the value."""

    data: object
    lines: Mapping[Path, int]
    end: int


@dataclass(frozen=True, slots=True)
class FoundLiteral:
    """A dict found in a text at text[start:end]."""

    value: dict[object, object]
    start: int
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


def find_literals(text: str) -> Iterator[FoundLiteral]:
    """The dicts printed in a text, outermost only, also those inside of strings that were wrapped over lines."""
    for value, start, end in _values(text):
        if isinstance(value, dict):
            yield FoundLiteral(value, start, end)
        elif isinstance(value, str):
            yield from (FoundLiteral(inner, start, end) for inner, _, _ in _values(value) if isinstance(inner, dict))


def _parsed(parser: LiteralParser, start: int) -> tuple[object, int]:
    try:
        return parser.value(start)
    except TornError as torn:
        raise FormatError(torn.reason, line=_line(parser.text, torn.at)) from None
    except RecursionError:  # only when the caller's own stack is nearly full
        raise FormatError("nested too deeply", line=_line(parser.text, start)) from None


def _values(text: str) -> Iterator[tuple[object, int, int]]:
    """Non-empty dicts and wrapped strings with their offsets."""
    reads = _REREADS * len(text)
    at = 0
    while (found := _CANDIDATE.search(text, at)) is not None:
        at = found.end()
        try:
            value, end = LiteralParser(text).value(found.start())
        except TornError as torn:
            reads -= torn.at - found.start()
            at = at if reads > 0 else max(at, torn.at)
            continue
        except RecursionError:
            return
        if value and isinstance(value, dict | str):
            at = end
            yield value, found.start(), end


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
