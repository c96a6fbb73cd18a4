"""Configs printed as an object, on one line or many: `Namespace(lr=0.0003, seed=1)`, `GRPOConfig(...)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rlclinic.readers.consoles.config_values import (
    Setting,
    closing_bracket,
    known_names,
    open_brackets,
    read_value,
    split_top_level,
)

# Longest printed object, in lines and in characters.
MAX_LINES = 1000
MAX_CHARACTERS = 1_000_000

# Levels of objects in objects that are opened.
MAX_DEPTH = 5

# Fewer settings than this are no config, unless their names say so.
MIN_SETTINGS = 5
MIN_KNOWN_NAMES = 2

# Engines and servers print objects of the same shape that are not the training's settings.
_OPENING = re.compile(
    r"(?<![\w.])(?!Engine|AsyncEngine|Server|Sampling)"
    r"(Namespace|HParams|Hyperparameters|\w{0,60}(?:Args|Arguments)"
    r"|(?:GRPO|PPO|RLOO|DPO|SFT|SAC|DQN|TD3|A2C|Train|Training|Trainer|Experiment|Run|Agent|Script|Algorithm)?\w{0,20}Config"
    r")\((?=\s*[A-Za-z_]\w*=|\s*$)"
)
_NESTED = re.compile(r"[A-Z]\w{0,60}\((?=[A-Za-z_]\w*=)")
_ITEM = re.compile(r"\s*([A-Za-z_]\w{0,100})\s?=(.*)", re.DOTALL)


def repr_settings(lines: Sequence[str]) -> list[Setting]:
    """The settings of every printed config object."""
    settings: list[Setting] = []
    index = 0
    while index < len(lines):
        used = 1
        opening = _OPENING.search(lines[index]) if "(" in lines[index] else None
        if opening:
            found, used = _read(lines, index, opening.end())
            settings.extend(found)
        index += used
    return settings


def _read(lines: Sequence[str], index: int, start: int) -> tuple[list[Setting], int]:
    first = lines[index]
    close = closing_bracket(first, start - 1)
    if close >= 0:
        found = [Setting(name, value, index + 1) for name, value in _items(first[start:close])]
        return _believed(found), 1
    if first[start:].strip() == "":
        return _one_per_line(lines, index)
    pieces, used = [first[start - 1 :]], 1
    stack = open_brackets(pieces[0])
    while stack and index + used < len(lines) and used < MAX_LINES and len(stack) < MAX_LINES:
        line = lines[index + used]
        if not line[:1].isspace():
            break
        pieces.append(line)
        stack = open_brackets("".join(stack) + line)
        used += 1
    text = "\n".join(pieces)[1:]
    found, row = [], 0
    for part in split_top_level(text.rstrip().removesuffix(")")):
        row += part[: len(part) - len(part.lstrip())].count("\n")
        found.extend(Setting(name, value, index + 1 + row) for name, value in _items(part))
        row += part.strip().count("\n")
    return _believed(found), used


def _one_per_line(lines: Sequence[str], index: int) -> tuple[list[Setting], int]:
    """The shape of Hugging Face's arguments, whose text values are printed without quotes."""
    found: list[Setting] = []
    used = 1
    while index + used < len(lines) and used < MAX_LINES:
        line = lines[index + used]
        item = _ITEM.fullmatch(line[:MAX_CHARACTERS])
        if item is None:
            break
        used += 1
        value = item.group(2).strip().removesuffix(",")
        found.append(Setting(item.group(1), read_value(value), index + used))
    return _believed(found), used


def _items(text: str, prefix: str = "", depth: int = 1) -> Iterator[tuple[str, object]]:
    for part in split_top_level(text[:MAX_CHARACTERS]):
        item = _ITEM.fullmatch(part)
        if item is None:
            continue
        name, value = prefix + item.group(1), item.group(2).strip()
        nested = _NESTED.match(value)
        if nested and value.endswith(")") and depth < MAX_DEPTH:
            yield from _items(value[nested.end() : -1], f"{name}.", depth + 1)
        else:
            yield name, read_value(value)


def _believed(found: list[Setting]) -> list[Setting]:
    enough = len(found) >= MIN_SETTINGS or known_names([setting.name for setting in found]) >= MIN_KNOWN_NAMES
    return found if enough else []
