"""Curves with axes, a grid and a legend, as PNG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlclinic.apps.mcp.canvas import FIRST_LINE, GLYPH_HEIGHT, GLYPH_WIDTH, GRID, INK, LINES, Canvas

FloatArray = NDArray[np.float64]

# Space around the curves in pixels; the left one holds the numbers of the y axis.
LEFT, RIGHT, TOP, BOTTOM = 74, 14, 24, 34
SMALLEST, LARGEST = 200, 1600
TICKS = 6


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot."""

    label: str
    x: FloatArray
    y: FloatArray


def plot(curves: Sequence[Curve], *, title: str, x_label: str, width: int = 800, height: int = 600) -> bytes:
    """A PNG of the curves. Longer curves are thinned to the lowest and highest value of every pixel column."""
    width, height = (max(SMALLEST, min(size, LARGEST)) for size in (width, height))
    canvas = Canvas(width, height)
    legend = GLYPH_HEIGHT + 4
    top = TOP + legend * len(curves)
    area = (LEFT, top, width - RIGHT, height - BOTTOM)
    x_range, y_range = _range([curve.x for curve in curves]), _range([curve.y for curve in curves])
    _axes(canvas, area, x_range, y_range)
    for number, curve in enumerate(curves):
        colour = FIRST_LINE + number % LINES
        x, y = _thinned(curve.x, curve.y, area[2] - area[0])
        canvas.line(_scaled(x, x_range, area[0], area[2]), _scaled(y, y_range, area[3], area[1]), colour, 2)
        place = TOP + legend * number
        canvas.line(np.array([LEFT, LEFT + 18.0]), np.array([place + 3.0, place + 3.0]), colour, 2)
        canvas.text(LEFT + 24, place, curve.label[: (width - LEFT - 30) // GLYPH_WIDTH])
    canvas.text(LEFT, 6, title[: (width - LEFT) // GLYPH_WIDTH])
    canvas.text(width - RIGHT, height - 12, x_label, right=True)
    return canvas.png()


def _axes(
    canvas: Canvas, area: tuple[int, int, int, int], x_range: tuple[float, float], y_range: tuple[float, float]
) -> None:
    left, top, right, bottom = area
    for value in _ticks(*y_range):
        at = float(_scaled(np.array([value]), y_range, bottom, top)[0])
        canvas.line(np.array([left, right], float), np.array([at, at]), GRID)
        canvas.text(left - 6, int(at) - 4, _words(value), right=True)
    for value in _ticks(*x_range):
        at = float(_scaled(np.array([value]), x_range, left, right)[0])
        canvas.line(np.array([at, at]), np.array([top, bottom], float), GRID)
        words = _words(value)
        canvas.text(int(at) - GLYPH_WIDTH * len(words) // 2, bottom + 6, words)
    canvas.line(np.array([left, left, right], float), np.array([top, bottom, bottom], float), INK)


def _range(arrays: Sequence[FloatArray]) -> tuple[float, float]:
    joined = np.concatenate(arrays) if arrays else np.array([])
    finite = joined[np.isfinite(joined)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if high > low else (low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(high), 1.0))


def _ticks(low: float, high: float) -> list[float]:
    """Round values within a range."""
    rough = (high - low) / TICKS
    if not math.isfinite(rough) or rough <= 0.0:
        return []
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough)
    first = math.ceil(low / step - 1e-9)
    return [step * index for index in range(first, first + 2 * TICKS) if step * index <= high + 1e-9 * step]


def _words(value: float) -> str:
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M" if abs(value) < 1e9 else f"{value:.1e}"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else f"{value:.4g}"


def _scaled(values: FloatArray, span: tuple[float, float], start: float, end: float) -> FloatArray:
    """From data to pixels; halved first, so that the largest floats have a finite range."""
    low, high = span
    share = (values / 2 - low / 2) / (high / 2 - low / 2)
    return start + share * (end - start)


def _thinned(x: FloatArray, y: FloatArray, columns: int) -> tuple[FloatArray, FloatArray]:
    finite = np.isfinite(x)
    x, y = x[finite], y[finite]
    if x.size <= 2 * columns:
        return x, y
    kept: list[int] = []
    for part in np.array_split(np.arange(x.size), columns):
        values = np.where(np.isfinite(y[part]), y[part], np.nan)
        if np.isnan(values).all():
            kept.append(int(part[0]))
            continue
        kept += sorted({int(part[np.nanargmin(values)]), int(part[np.nanargmax(values)])})
    return x[kept], y[kept]
