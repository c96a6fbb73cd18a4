"""Text from a log inside GitHub's markdown: nothing in it may become a heading, a link, a mention or HTML."""

from __future__ import annotations

import re

from rlclinic.reports.page import Code, Inline, coded
from rlclinic.reports.text import printable

_SPECIAL = re.compile(r"([\\`*\[\]|~$])")
# An underscore between letters is no emphasis, and names are full of them.
_LONE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
# A mention or a reference to an issue would notify somebody; an empty comment breaks it and is not seen.
_REFERENCE = re.compile(r"([@#])(?=\w)")
# What begins a list, a heading or a rule; `0.5 of` does not.
_BLOCK_START = re.compile(r"^(\d*)([-+=#](?<!\d.)|(?<=\d)[.)](?=\s|$))")
_PIPE = r"\|"
_BACKTICKS = re.compile(r"`+")


def words(text: Inline) -> str:
    """One line of markdown that shows the text as it is."""
    return "".join(code(piece) if isinstance(piece, Code) else escaped(piece) for piece in coded(text)).strip()


def escaped(text: str) -> str:
    """Plain words."""
    flat = printable(re.sub(r"\s+", " ", text))
    safe = _SPECIAL.sub(r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    safe = _LONE_UNDERSCORE.sub(r"\\_", safe)
    return _REFERENCE.sub(r"\1<!-- -->", safe)


def paragraph(text: Inline) -> str:
    """Words that begin a line: they may not begin a list or a heading."""
    return _BLOCK_START.sub(r"\1\\\2", words(text))


def cell(text: Inline) -> str:
    """Words of a table. A pipe ends a cell even inside a code span, so such a span is written in HTML."""
    return "".join(_cell_code(piece) if isinstance(piece, Code) else escaped(piece) for piece in coded(text)).strip()


def code(text: str) -> str:
    """A code span that the text cannot close."""
    flat = printable(" ".join(text.split()))
    if not flat:
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(flat)), default=0)
    fence = "`" * (longest + 1)
    space = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{space}{flat}{space}{fence}"


def fenced(lines: tuple[str, ...], language: str = "text") -> list[str]:
    """Quoted lines in a block that they cannot close."""
    shown = [printable(line) for line in lines]
    longest = max((len(run) for line in shown for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *shown, fence]


def _cell_code(text: str) -> str:
    return f"<code>{escaped(text).replace(_PIPE, '&#124;')}</code>" if "|" in text else code(text)
