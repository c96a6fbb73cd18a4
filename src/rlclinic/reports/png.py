"""Curves as a PNG, with axes, a grid and a legend. Needs Pillow (the extra `mcp`)."""

from __future__ import annotations

from io import BytesIO
from itertools import groupby

import numpy as np

from rlclinic.model.errors import UsageError
from rlclinic.model.series import FloatArray
from rlclinic.reports.curves import Chart, Line, thin
from rlclinic.reports.scales import Scale, linear, tick_text
from rlclinic.reports.text import printable

try:
    from PIL import Image, ImageDraw, ImageFont
except ModuleNotFoundError as error:
    raise UsageError("plots need Pillow", hint="pip install 'rlclinic[mcp]'") from error

# One colour for each line, told apart by the colour-blind (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6e6e6e")
INK, GRID = "#282828", "#dedede"
# Space around the curves in pixels; the left one holds the numbers of the y axis, a row of the legend is one line high.
LEFT, RIGHT, TOP, BOTTOM, ROW = 74, 14, 26, 36, 15
SMALLEST, LARGEST = 200, 1600
TICKS = 6
LINE_WIDTH = 2


def png(chart: Chart, x_label: str) -> bytes:
    """The picture as a file; its sides are kept between SMALLEST and LARGEST pixels."""
    width, height = (max(SMALLEST, min(size, LARGEST)) for size in (chart.width, chart.height))
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default()
    x = linear(*_span([line.steps for line in chart.lines]), LEFT, width - RIGHT)
    y = linear(*_span([line.values for line in chart.lines]), height - BOTTOM, TOP + ROW * len(chart.lines))
    _axes(draw, font, x, y)
    for number, line in enumerate(chart.lines):
        colour = COLOURS[number % len(COLOURS)]
        _curve(draw, line, x, y, colour)
        row = TOP + ROW * number
        draw.line((LEFT, row + 6, LEFT + 18, row + 6), colour, LINE_WIDTH)
        draw.text((LEFT + 24, row), _shown(line.name), INK, font)
    draw.text((LEFT, 6), _shown(chart.title), INK, font)
    draw.text((width - RIGHT, height - 6), _shown(x_label), INK, font, anchor="rs")
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _axes(draw: ImageDraw.ImageDraw, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, x: Scale, y: Scale) -> None:
    for value in y.ticks(TICKS):
        draw.line((x.start, y(value), x.end, y(value)), GRID)
        draw.text((x.start - 6, y(value)), tick_text(value), INK, font, anchor="rm")
    for value in x.ticks(TICKS):
        draw.line((x(value), y.start, x(value), y.end), GRID)
        draw.text((x(value), y.start + 4), tick_text(value), INK, font, anchor="mt")
    draw.line((x.start, y.end, x.start, y.start, x.end, y.start), INK)


def _curve(draw: ImageDraw.ImageDraw, line: Line, x: Scale, y: Scale, colour: str) -> None:
    """Values that are not finite interrupt the line; a point between two of them is a dot."""
    there = np.isfinite(line.steps)
    steps, values = thin(line.steps[there], line.values[there], 2 * int(x.end - x.start))
    pairs = zip(steps.tolist(), values.tolist(), strict=True)
    for finite, piece in groupby(pairs, lambda pair: bool(np.isfinite(pair[1]))):
        points = [(x(step), y(value)) for step, value in piece if finite]
        if len(points) == 1:
            draw.circle(points[0], LINE_WIDTH, colour)
        else:
            draw.line(points, colour, LINE_WIDTH, joint="curve")


def _span(arrays: list[FloatArray]) -> tuple[float, float]:
    joined = np.concatenate(arrays)
    finite = joined[np.isfinite(joined)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def _shown(text: str) -> str:
    return printable(" ".join(text.split()))[:LARGEST]
