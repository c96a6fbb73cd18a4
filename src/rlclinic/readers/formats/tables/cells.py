"""Cells of a table to numbers: many at once where they are plain, one by one where they are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import not_

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass

MISSING = frozenset({"", "None", "none", "null", "NULL"})  # how writers spell "no value"
NON_FINITE = frozenset({"nan", "NaN", "inf", "-inf", "Infinity", "-Infinity"})  # JSON has no other way to say it
MAX_TEXT_LENGTH = 1 << 14  # characters of a text cell; RLlib's config and info cells of 2018 have about 3,000
_WORDS = {"True": 1.0, "true": 1.0, "False": 0.0, "false": 0.0}
# str() of a zero-dimensional array or tensor: tensor(0.5), tensor(0.5, device='cuda:0'), np.float32(0.5)
_WRAPPED = re.compile(r"(?:tensor|array|np\.float\d+|np\.int\d+)\(([^(),]{1,40})(?:,[^()]{0,200})?\)")


@dataclass(frozen=True, slots=True)
class Cells:
    """A run of cells of one column."""

    values: NDArray[np.float64]  # NaN where a cell is no number
    missing: NDArray[np.bool_] | None = None  # None: every cell is a number
    others: tuple[int, ...] = ()  # cells that are neither a number nor empty
    texts: Sequence[str] = ()  # all cells as written, if there are others
    plain: bool = True  # only digits and empty cells: no words, no wrapped numbers


def parse_number(text: str) -> float | None:
    """The number in a cell, or None if it is empty or not a number.

    Takes what float() takes, except digit groups ("1_000") and non-ASCII digits; also truth values and the
    text of a zero-dimensional tensor.
    """
    text = text.strip()
    if text in _WORDS:
        return _WORDS[text]
    wrapped = _WRAPPED.fullmatch(text)
    if wrapped:
        text = wrapped[1]
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def convert_texts(cells: Sequence[str]) -> Cells:
    """Cells as written in a text file."""
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():
        return _one_by_one(cells)
    try:
        return Cells(np.fromiter(map(float, cells), np.float64, len(cells)))
    except ValueError:
        pass
    try:
        values = np.fromiter(map(float, [cell or "nan" for cell in cells]), np.float64, len(cells))
    except ValueError:
        return _one_by_one(cells)
    return Cells(values, np.fromiter(map(not_, cells), np.bool_, len(cells)))


def convert_values(cells: Sequence[object]) -> Cells:
    """Cells of JSON: float, bool, None or str."""
    kinds = set(map(type, cells))
    if kinds == {float}:
        return Cells(np.fromiter(cells, np.float64, len(cells)))
    values = np.full(len(cells), np.nan)
    missing = np.ones(len(cells), np.bool_)
    others = []
    for index, cell in enumerate(cells):
        if isinstance(cell, float | bool) or cell in NON_FINITE:
            values[index] = float(cell)
            missing[index] = False
        elif cell is not None:
            others.append(index)
    texts = ["" if cell is None else _text(cell) for cell in cells] if others else ()
    return Cells(values, missing if missing.any() else None, tuple(others), texts, plain=False)


def render_number(value: float) -> str:
    """A number as text, for the number cells of a column that turned out to be text."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def safe_text(text: str) -> str:
    """Text that can be encoded, of bounded length. JSON can escape half of a surrogate pair."""
    if len(text) > MAX_TEXT_LENGTH:
        text = text[: MAX_TEXT_LENGTH - 1] + "…"
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _one_by_one(cells: Sequence[str]) -> Cells:
    values = np.full(len(cells), np.nan)
    missing = np.ones(len(cells), np.bool_)
    others = []
    known: dict[str, float | None] = {}  # text columns repeat themselves
    for index, cell in enumerate(cells):
        if cell not in known:
            known[cell] = parse_number(cell)
        value = known[cell]
        if value is not None:
            values[index] = value
            missing[index] = False
        elif cell.strip() not in MISSING:
            others.append(index)
    texts = cells if others else ()
    return Cells(values, missing if missing.any() else None, tuple(others), texts, plain=False)


def _text(cell: object) -> str:
    is_text = isinstance(cell, str) and cell not in NON_FINITE
    return str(cell) if is_text else render_number(float(cell))  # type: ignore[arg-type]
