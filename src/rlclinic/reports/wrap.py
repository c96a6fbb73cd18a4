"""Lines no wider than a terminal. Widths are in cells: wide characters take two, combining marks none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

ELLIPSIS = "…"
# A percent sign stays with its number.
_WORD_END = re.compile(r" (?!%)")
# Where a word that is too long is best broken.
_JOINTS = "/_-.,"


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    return len(text) if text.isascii() else sum(_cell(char) for char in text)


def wrap(text: str, width: int, *, indent: str = "", hanging: str | None = None) -> list[str]:
    """A paragraph as lines; the first begins with `indent`, the others with `hanging`. Long words are broken."""
    later = indent if hanging is None else hanging
    lines: list[str] = []
    prefix, line = indent, ""
    for word in _WORD_END.split(" ".join(text.split())):
        for piece in _broken(word, max(8, width - max(cells(indent), cells(later)))):
            longer = f"{line} {piece}" if line else piece
            if line and cells(prefix) + cells(longer) > width:
                lines.append(prefix + line)
                prefix, line = later, piece
            else:
                line = longer
    return [*lines, prefix + line] if line else lines


def cut(text: str, width: int) -> str:
    """A text cut to so many cells, the cut shown."""
    if cells(text) <= width:
        return text
    kept = ""
    for char in text:
        if cells(kept) + _cell(char) > width - 1:
            break
        kept += char
    return kept + ELLIPSIS


def pad(text: str, width: int, *, right: bool = False) -> str:
    """A text filled up with spaces to so many cells."""
    space = " " * (width - cells(text))
    return space + text if right else text + space


def _cell(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _broken(word: str, width: int) -> Iterator[str]:
    if cells(word) <= width:
        yield word
        return
    piece = ""
    for char in word:
        if cells(piece) + _cell(char) > width:
            joint = max(piece.rfind(mark) for mark in _JOINTS) + 1
            end = joint if joint > len(piece) // 2 else len(piece)
            yield piece[:end]
            piece = piece[end:]
        piece += char
    yield piece
