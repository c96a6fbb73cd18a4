"""One value of a TOML text replaced or added in place.

Lines are matched, not parsed: what is matched wrongly (a line inside a text block) fails the proof and is refused.
"""

from __future__ import annotations

import re
import tomllib

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.prescriptions.edit.edits import Path, Refused, dotted
from rlclinic.prescriptions.syntax.assignment import CannotWrite
from rlclinic.prescriptions.syntax.spelling import toml_text

_HEADER = re.compile(r"[ \t]*\[(?P<name>[^\[\]\r\n]+)\][ \t]*(?:#.*)?$")
_TABLES = re.compile(r"[ \t]*\[\[")
_KEY = re.compile(r"""(?P<indent>[ \t]*+)(?P<key>[A-Za-z0-9_."' -]*[A-Za-z0-9_."'-])[ \t]*=[ \t]*""")
_VALUE = re.compile(r"""(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|\[[^\]\r\n]*\]|[^\s#,\[{"']+)[ \t]*(?:#.*)?$""")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|$)""")


@dataclass(frozen=True, slots=True)
class _Line:
    """A simple `key = value`."""

    table: Path
    path: Path
    indent: str
    start: int
    end: int
    line_end: int


def load(text: str) -> object:
    """The data."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"not TOML: {error}") from None


def replace(text: str, path: Path, found: object, after: object) -> str:
    """The text with another value at the path."""
    lines = [line for line in _lines(text) if line.path == path]
    if len(lines) != 1:
        raise Refused(f"{dotted(path)} does not stand on one line of its own")
    return text[: lines[0].start] + _spelled(after) + text[lines[0].end :]


def insert(text: str, path: Path, after: object) -> str:
    """The text with a new key after the last simple line of a table that is there."""
    lines = [line for line in _lines(text) if line.table == path[:-1]]
    if not lines:
        raise Refused(f"there is no place for {dotted(path)} in this file")
    last = lines[-1]
    newline = "\r\n" if "\r\n" in text else "\n"
    pair = f"{last.indent}{path[-1]} = {_spelled(after)}"
    return f"{text[: last.line_end]}{newline}{pair}{text[last.line_end :]}"


def _spelled(after: object) -> str:
    try:
        return toml_text(after)
    except CannotWrite as error:
        raise Refused(error.message, hint=error.hint) from None


def _lines(text: str) -> list[_Line]:
    found: list[_Line] = []
    table: Path | None = ()
    position = 0
    for whole in text.splitlines(keepends=True):
        content = whole.rstrip("\r\n")
        header = _HEADER.match(content)
        if _TABLES.match(content):
            table = None
        elif header is not None:
            table = _parts(header["name"])
        elif table is not None:
            key = _KEY.match(content)
            value = _VALUE.match(content, key.end()) if key is not None else None
            name = _parts(key["key"]) if key is not None else None
            if key is not None and value is not None and name:
                span = position + value.start("value"), position + value.end("value")
                found.append(_Line(table, (*table, *name), key["indent"], *span, position + len(content)))
        position += len(whole)
    return found


def _parts(name: str) -> Path | None:
    parts: list[str] = []
    position = 0
    while position < len(name):
        match = _PART.match(name, position)
        if match is None or match.end() == position:
            return None
        parts.append(next(group for group in match.groups() if group is not None))
        position = match.end()
    return tuple(parts)
