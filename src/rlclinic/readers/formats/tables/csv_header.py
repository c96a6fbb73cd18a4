"""The header of a CSV file: which line it is, unique column names, and other headers further down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.tables.builder import MAX_COLUMNS
from rlclinic.readers.formats.tables.cells import MISSING, parse_number, safe_text
from rlclinic.readers.formats.tables.csv_records import split_line
from rlclinic.readers.formats.tables.notes import Notes

_NAME = re.compile(r"(?=.*[^\W\d_])[^\"'<>{}=]{1,200}")  # has a letter, and is no log line and no dict


@dataclass(frozen=True, slots=True)
class Header:
    """The cells of a header line and the unique column names made of them."""

    cells: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, cells: Sequence[str]) -> Header:
        stripped = [safe_text(cell.strip().lstrip("\ufeff")) for cell in cells[:MAX_COLUMNS]]
        while stripped and not stripped[-1]:
            stripped.pop()  # a delimiter at the end of every line
        return cls(tuple(stripped), _unique(stripped))

    def is_repeated_by(self, cells: Sequence[str]) -> bool:
        return cells[0].strip() in self.cells[:1] and Header.of(cells).cells == self.cells


def choose(
    cells: Sequence[str],
    given: Sequence[str] | None,
    comments: Sequence[str],
    delimiter: str,
    notes: Notes,
) -> tuple[Header, bool]:
    """The header of a file whose first record is `cells`, and whether that record is a row already."""
    if given is not None:
        if not are_names(cells):
            return Header.of(given), True
        if [cell.strip() for cell in cells] != list(given):
            notes.say("the file has a header of its own; its names were used")
        return Header.of(cells), False
    if not all(cell.strip() in MISSING or parse_number(cell) is not None for cell in cells):
        return Header.of(cells), False
    if len(cells) > 1 and cells == ["", *map(str, range(len(cells) - 1))]:  # pandas, of a list without names
        return Header.of([""] * (len(cells) - 1) + [f"column_{len(cells)}"]), False
    above = split_line(comments[-1], delimiter) if comments else []
    if len(above) == len(cells) and are_names(above):  # numpy.savetxt(header=...)
        return Header.of(above), True
    notes.say("there is no header line; the columns are numbered")
    return Header.of([f"column_{index + 1}" for index in range(len(cells))]), True


def are_names(cells: Sequence[str]) -> bool:
    """Whether the cells could be a header: distinct names, no number, nothing empty."""
    names = [cell.strip() for cell in cells]
    return all(map(_is_name, names)) and len(set(names)) == len(names)


def has_number(cells: Iterable[str]) -> bool:
    return any(parse_number(cell) is not None for cell in cells)


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text not in MISSING and parse_number(text) is None


def _unique(cells: Sequence[str]) -> tuple[str, ...]:
    names: dict[str, int] = {}
    for index, cell in enumerate(cells):
        name = base = cell or f"column_{index + 1}"
        while name in names:
            # Counted on from the last copy: a header may repeat one name ten thousand times.
            names[base] += 1
            name = f"{base}#{names[base]}"
        names[name] = 1
    return tuple(names)
