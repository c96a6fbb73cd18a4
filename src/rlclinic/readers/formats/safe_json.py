"""JSON with the line of every value, for configs, and without, for big files. Only FormatError is raised."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.json_places import json_places
from rlclinic.readers.no_links import read_file

# Characters of a file whose lines are wanted: configs have kilobytes.
MAX_CONFIG_CHARS = 8 << 20

# Nesting of real files stays below twenty; deeper data would exhaust the stack of whoever walks it.
MAX_DEPTH = 100

# Digits of an integer that may be too large for float64: it is read as a float, an infinity at worst.
MANY_DIGITS = 309

# Told of one file.
MAX_PROBLEMS = 20

_LONG_INTEGER = re.compile(rf"\d{{{MANY_DIGITS}}}")
_LONE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """The data, the 1-based line of every value by its path, and what was odd about the text."""

    data: object
    lines: Mapping[tuple[str | int, ...], int]
    problems: tuple[str, ...] = ()


def load_json(text: str) -> JsonDocument:
    """Read a JSON file of config size. NaN, Infinity and a byte order mark are accepted."""
    if len(text) > MAX_CONFIG_CHARS:
        raise FormatError(f"{len(text)} characters of JSON are more than a config has ({MAX_CONFIG_CHARS})")
    data = load_json_data(text)
    lines, problems = _locate(text)
    return JsonDocument(data, lines, problems)


def load_json_data(text: str) -> object:
    """Read JSON of any size, without line numbers."""
    text = text.removeprefix("\ufeff")
    data = _loaded(text)
    if _is_too_deep(data):
        raise FormatError(f"more than {MAX_DEPTH} levels of nesting")
    return _repaired(data) if _LONE_SURROGATE.search(text) else data


def load_json_file(path: Path) -> object:
    """Read a JSON file of config size, without line numbers; OSError where it cannot be opened."""
    return load_json_data(read_file(path, MAX_CONFIG_CHARS).decode("utf-8", "replace"))


def _loaded(text: str) -> object:
    try:
        return json.loads(text, parse_int=_whole if _LONG_INTEGER.search(text) else None)
    except json.JSONDecodeError as error:
        raise FormatError(error.msg, line=error.lineno) from None
    except RecursionError:
        raise FormatError(f"more than {MAX_DEPTH} levels of nesting") from None


def _whole(digits: str) -> object:
    return int(digits) if len(digits) < MANY_DIGITS else float(digits)


def _is_too_deep(data: object) -> bool:
    level = [data]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent if isinstance(parent, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _repaired(data: object) -> object:
    """Half a surrogate pair cannot be written to any file again: it becomes a question mark."""
    if isinstance(data, str):
        return data.encode("utf-8", "replace").decode()
    if isinstance(data, dict):
        return {_repaired(key): _repaired(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_repaired(value) for value in data]
    return data


def _locate(text: str) -> tuple[dict[tuple[str | int, ...], int], tuple[str, ...]]:
    """The line of every value, which is that of its key where it has one."""
    lines: dict[tuple[str | int, ...], int] = {}
    problems: list[str] = []
    line, key_line, reached = 1, 1, 0
    for place in json_places(text):
        if place.kind == "close":
            continue
        line += text.count("\n", reached, place.start)
        reached = place.start
        if place.kind != "key":
            lines[place.path] = key_line if place.path and isinstance(place.path[-1], str) else line
            continue
        key_line = line
        if place.path in lines and len(problems) < MAX_PROBLEMS:
            problems.append(f"line {line}: {place.path[-1]!r} is given twice, the last one counts")
    return lines, tuple(problems)
