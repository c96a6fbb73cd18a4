"""Configs printed as a list: `lr: 0.0003` line by line, nested as YAML, or dotted as Megatron does it.

algorithm:                       lr: 0.0003            lr ........................ 1e-06
  gamma: 0.99                    n_steps: 2048         global_batch_size ......... 128
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlclinic.readers.consoles.config_values import Setting, known_names, read_value

# Fewer lines than this are no list of settings, and this many of them must be well-known names.
MIN_SETTINGS = 4
MIN_KNOWN_NAMES = 2

# Longest line that is a setting, in characters.
MAX_LINE = 2000

# Deepest nesting that is followed.
MAX_DEPTH = 20

_ITEM = re.compile(r"(\s*)(?:- )?([A-Za-z_][\w./\-]{0,100}):(?:[ \t]+(\S.*))?")
_LIST_ITEM = re.compile(r"\s*- (.{1,500})")
_DOTS = re.compile(r"\s{0,8}([a-z_]\w{1,100}) \.{3,200} (.{0,500})")


def listing_settings(lines: Sequence[str]) -> list[Setting]:
    """The settings of every list that is a config."""
    settings: list[Setting] = []
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        if len(line) <= MAX_LINE and (_ITEM.fullmatch(line) or (block and _LIST_ITEM.fullmatch(line))):
            block.append((number, line))
            continue
        settings.extend(_believed(_nested(block)))
        block = []
    settings.extend(_believed(_nested(block)))
    return settings


def dotted_settings(lines: Sequence[str]) -> list[Setting]:
    """The settings of Megatron's table of arguments, which slime prints too."""
    matches = (
        (number, _DOTS.fullmatch(line)) for number, line in enumerate(lines, start=1) if " ..." in line[:MAX_LINE]
    )
    return _believed(
        [Setting(match.group(1), read_value(match.group(2)), number) for number, match in matches if match]
    )


def _nested(block: Sequence[tuple[int, str]]) -> list[Setting]:
    """The block as dotted names; a name belongs to the last one above it that is indented less."""
    if len(block) < MIN_SETTINGS:
        return []
    settings: list[Setting] = []
    parents: list[tuple[int, str]] = []
    for position, (number, line) in enumerate(block):
        item = _ITEM.fullmatch(line)
        if item is None or (item.group(3) is None and _LIST_ITEM.fullmatch(line)):
            continue
        indent, name, text = len(item.group(1)), item.group(2), item.group(3)
        while parents and parents[-1][0] >= indent:
            parents.pop()
        full = ".".join([*(parent for _, parent in parents), name])
        if text is not None:
            settings.append(Setting(full, read_value(text.partition(" #")[0]), number))
            continue
        items = _list_below(block, position + 1, indent)
        if items:
            settings.append(Setting(full, items, number))
        elif len(parents) < MAX_DEPTH:
            parents.append((indent, name))
    return settings


def _list_below(block: Sequence[tuple[int, str]], start: int, indent: int) -> list[object]:
    items: list[object] = []
    while start + len(items) < len(block):
        line = block[start + len(items)][1]
        match = _LIST_ITEM.fullmatch(line)
        if match is None or len(line) - len(line.lstrip()) < indent or _ITEM.fullmatch(line):
            break
        items.append(read_value(match.group(1)))
    return items


def _believed(settings: list[Setting]) -> list[Setting]:
    names = [setting.name for setting in settings]
    return settings if len(names) >= MIN_SETTINGS and known_names(names) >= MIN_KNOWN_NAMES else []
