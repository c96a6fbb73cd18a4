"""Small pieces of plain text: numbers, sparklines, aligned columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rlclinic.model.series import FloatArray

BLOCKS = "▁▂▃▄▅▆▇█"
SPARK_WIDTH = 24


def number(value: float | None) -> str:
    """A number as a person would write it: 4 significant digits, thousands grouped."""
    if value is None:
        return "-"
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    if abs(value) >= 1e-3:
        return f"{value:.4g}"
    return f"{value:.3g}"


def sparkline(values: FloatArray, width: int = SPARK_WIDTH) -> str:
    """The shape of a curve in block characters; `!` marks a stretch without a finite value."""
    if not values.size:
        return ""
    chunks = np.array_split(values, min(width, values.size))
    means = np.array([chunk[np.isfinite(chunk)].mean() if np.isfinite(chunk).any() else np.nan for chunk in chunks])
    finite = means[np.isfinite(means)]
    if not finite.size:
        return "!" * len(chunks)
    low, high = float(finite.min()), float(finite.max())
    span = (high - low) or 1.0
    top = len(BLOCKS) - 1
    # Rounding of the same constant by two loggers must not look like a step.
    flat = BLOCKS[top // 2] if span < 1e-6 * max(abs(low), abs(high)) or high == low else ""
    return "".join(
        "!" if not math.isfinite(mean) else flat or BLOCKS[round((mean - low) / span * top)] for mean in means
    )


def columns(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset(), indent: str = "  ") -> list[str]:
    """Rows as aligned text; the columns in `right` are aligned to the right."""
    if not rows:
        return []
    widths = [max(_width(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [
        (indent + "  ".join(_pad(cell, widths[index], index in right) for index, cell in enumerate(row))).rstrip()
        for row in rows
    ]


def shorten(text: str, width: int) -> str:
    """A text cut to a width, the cut shown."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def printable(text: str) -> str:
    """Text from a log without characters that would act on a terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)


def _width(text: str) -> int:
    # Wide characters of east-asian run names take two cells.
    return sum(2 if ord(char) > 0x1100 and _is_wide(char) else 1 for char in text)


def _is_wide(char: str) -> bool:
    code = ord(char)
    return 0x1100 <= code <= 0x115F or 0x2E80 <= code <= 0xA4CF or 0xAC00 <= code <= 0xD7A3 or 0xF900 <= code <= 0xFF60


def _pad(text: str, width: int, to_the_right: bool) -> str:  # noqa: FBT001
    space = " " * (width - _width(text))
    return space + text if to_the_right else text + space
