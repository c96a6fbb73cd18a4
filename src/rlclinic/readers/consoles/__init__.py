"""Parsers of console logs: cleaned lines in, rows of numbers out. None of them touches a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rlclinic.readers.consoles.arena import parse_arena
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

__all__ = ["Console", "ConsoleRows", "PrintedConfig", "find_config", "parse_console"]

Parser: TypeAlias = Callable[[Sequence[str]], tuple[ConsoleRows, ...]]

PARSERS: tuple[Parser, ...] = (
    parse_step_lines,
    parse_dict_lines,
    parse_bullets,
    parse_bars,
    parse_boxes,
    parse_iteration_blocks,
    parse_arena,
)
# What home-made scripts print, looked for where no dialect is found.
HOME_MADE: tuple[Parser, ...] = (parse_counted_lines, parse_columns)

# Rows of a dialect below which they may be a quotation.
QUOTED = 3


class Console:
    """The lines of a console: each dialect is looked for once, and only when it is asked for."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._found: dict[Parser, tuple[ConsoleRows, ...]] = {}

    @property
    def has_metrics(self) -> bool:
        """Whether any dialect is found."""
        return any(map(self._rows, (*PARSERS, *HOME_MADE)))

    @property
    def rows(self) -> tuple[ConsoleRows, ...]:
        """The rows of every dialect found, the one with most rows first."""
        found = [rows for parse in PARSERS for rows in self._rows(parse)]
        # A single line of a dialect may be quoted beside a table of the whole.
        if all(len(rows.rows) < QUOTED for rows in found):
            found += [rows for parse in HOME_MADE for rows in self._rows(parse)]
        return tuple(sorted(found, key=lambda rows: len(rows.rows), reverse=True))

    def _rows(self, parse: Parser) -> tuple[ConsoleRows, ...]:
        if parse not in self._found:
            self._found[parse] = parse(self.lines)
        return self._found[parse]


def parse_console(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of a text."""
    return Console(lines).rows
