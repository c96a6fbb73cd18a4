"""Parsers of console logs: cleaned lines in, rows of numbers out. None of them touches a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlclinic.readers.consoles.bar_postfixes import parse_bar_postfixes
from rlclinic.readers.consoles.bars import parse_bars
from rlclinic.readers.consoles.boxes import parse_boxes
from rlclinic.readers.consoles.bullets import parse_bullets
from rlclinic.readers.consoles.columns import parse_columns
from rlclinic.readers.consoles.counted_lines import parse_counted_lines
from rlclinic.readers.consoles.dict_lines import parse_dict_lines
from rlclinic.readers.consoles.iteration_blocks import parse_iteration_blocks
from rlclinic.readers.consoles.printed_config import PrintedConfig, find_config
from rlclinic.readers.consoles.rows import ConsoleRows
from rlclinic.readers.consoles.step_lines import parse_step_lines

__all__ = ["ConsoleRows", "PrintedConfig", "find_config", "has_metric_lines", "parse_console"]

PARSERS: tuple[Callable[[Sequence[str]], tuple[ConsoleRows, ...]], ...] = (
    parse_step_lines,
    parse_dict_lines,
    parse_bar_postfixes,
    parse_bullets,
    parse_bars,
    parse_boxes,
    parse_iteration_blocks,
)
# What home-made scripts print, looked for where no dialect is found.
HOME_MADE = (parse_counted_lines, parse_columns)


def parse_console(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of every dialect found in the text, the one with most rows first."""
    found = [rows for parse in PARSERS for rows in parse(lines)]
    found = found or [rows for parse in HOME_MADE for rows in parse(lines)]
    return tuple(sorted(found, key=lambda rows: len(rows.rows), reverse=True))


def has_metric_lines(lines: Sequence[str]) -> bool:
    """Whether any dialect is found in the text."""
    return any(parse(lines) for parse in (*PARSERS, *HOME_MADE))
