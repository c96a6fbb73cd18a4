"""Configs printed as a dict: over many lines (verl), as JSON, or on one line after "config:"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlclinic.readers.consoles.config_values import Setting, flatten, known_names, open_brackets
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.python_literal import load_literal_lines

# Longest printed config, and longest stretch of other processes' output inside it, in lines.
MAX_LINES = 5000
MAX_FOREIGN_LINES = 300

# Fewer settings than this are no config, unless their names say so.
MIN_SETTINGS = 5
MIN_KNOWN_NAMES = 2

# Deeper brackets are not a config.
MAX_OPEN_BRACKETS = 100

# Pretty-printing with an indent sets spaces behind the first brace too.
_STARTS = re.compile(r"\{\s{0,8}['\"]|OrderedDict\([\[{]")

_CLOSING = {"[": "]", "(": ")", "{": "}"}
_ANNOUNCED = re.compile(r"(?i)\b(?:config|configuration|args|arguments|hyper-?param\w*|hparams|settings)\W{0,4}$")
# Pretty-printing indents every line but the first; a JSON item ("name": ...) is another process's output.
_CONTINUES = re.compile(r"\s+(?:['\[{(\])}]|-?\d|None\b|True\b|False\b|\"(?![^\"]*\":))")
# Ray's prefix of the next process, printed before the line was ended.
_GLUED = re.compile(r"\((?:[\w:.\-]{1,60} ){0,3}pid=\d+.*")


def dict_settings(lines: Sequence[str]) -> tuple[list[Setting], list[str]]:
    """The settings of every printed dict that is a config, and notes on those that were torn."""
    settings: list[Setting] = []
    problems: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        used = 1
        starts = _STARTS.match(line) is not None
        if starts or line.strip() == "{":
            read = _read_dict if starts else _read_json
            found, used, notes = read(lines, index)
            settings.extend(found)
            problems.extend(notes)
        elif line.endswith("}") and "{" in line:
            settings.extend(_announced(line, index + 1))
        index += used
    return settings, problems


def _read_dict(lines: Sequence[str], index: int) -> tuple[list[Setting], int, list[str]]:
    stack = open_brackets(lines[index])
    if not stack:
        found = _settings(lines[index], 0, [index + 1]) if lines[index].startswith("OrderedDict") else []
        return (found if _is_config(found) else []), 1, []
    kept, numbers, used, foreign = [lines[index]], [index + 1], 1, 0
    while stack and index + used + foreign < len(lines) and len(kept) < MAX_LINES:
        line = lines[index + used + foreign]
        if _STARTS.match(line) or foreign > MAX_FOREIGN_LINES or len(stack) > MAX_OPEN_BRACKETS:
            break
        if not _CONTINUES.match(line):
            foreign += 1
            continue
        used, foreign = used + foreign + 1, 0
        kept.append(_GLUED.sub("", line) if "pid=" in line else line)
        numbers.append(index + used)
        stack = open_brackets("".join(stack) + kept[-1])
    text = "\n".join(kept)
    notes: list[str] = []
    if stack:
        text = text.rstrip().rstrip(",") + "".join(_CLOSING[bracket] for bracket in reversed(stack))
        notes = [f"line {index + 1}: printed config breaks off at line {numbers[-1]}"]
    found = _settings(text, 0, numbers)
    return (found, used, notes) if _is_config(found) else ([], 1, [])


def _settings(text: str, start: int, numbers: Sequence[int]) -> list[Setting]:
    """The settings of the dict that starts here; `numbers` are the log's lines that the text was made of."""
    try:
        found = load_literal_lines(text, start)
    except FormatError:
        return []
    if not isinstance(found.data, dict):
        return []
    return [
        Setting(".".join(path), value, numbers[min(found.lines.get(path, 1), len(numbers)) - 1])
        for path, value in flatten(found.data)
    ]


def _is_config(settings: Sequence[Setting]) -> bool:
    names = [setting.name for setting in settings]
    metrics = sum("/" in name for name in names)
    if metrics > len(names) / 2:
        return False
    return len(names) >= MIN_SETTINGS or known_names(names) >= MIN_KNOWN_NAMES


def _read_json(lines: Sequence[str], index: int) -> tuple[list[Setting], int, list[str]]:
    end = index + 1
    while end < len(lines) and end - index < MAX_LINES and lines[end][:1] in (" ", "\t", '"'):
        end += 1
    if end == len(lines) or lines[end].rstrip() != "}":
        return [], end - index, []
    found = _settings("\n".join(lines[index : end + 1]), 0, range(index + 1, end + 2))
    return (found if _has_known_names(found) else []), end - index + 1, []


def _announced(line: str, number: int) -> list[Setting]:
    """A dict on one line is a config only if the words in front of it say so."""
    brace = line.index("{")
    if not _ANNOUNCED.search(line[max(0, brace - 60) : brace]):
        return []
    found = _settings(line, brace, [number])
    return found if _has_known_names(found) else []


def _has_known_names(settings: Sequence[Setting]) -> bool:
    return known_names([setting.name for setting in settings]) >= MIN_KNOWN_NAMES
