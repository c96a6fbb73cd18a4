"""Curves as inline SVG: lines over steps, the threshold, and marks where findings began.

Colours come from the page's style sheet, so that a curve follows light, dark and print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.reports.scales import Scale, linear, logarithmic, tick_text, widened
from rlclinic.reports.text import number, printable

# Points of a curve that are drawn: the least and the greatest of 200 stretches, so that no spike is lost.
MAX_POINTS = 400
# Curves with few points show each of them.
FEW_POINTS = 40
# Points of a curve that tell their value where the pointer rests on them, and how near it must come.
MAX_TOLD, NEAR = 60, 6
# Marks over one curve; more cannot be told apart.
MAX_MARKS = 6

Y_TICKS = 4
LEFT, RIGHT, TOP, BOTTOM = 46.0, 10.0, 26.0, 20.0
# Width of a mark's label, in units of the picture: labels closer than this go on another row.
LABEL_WIDTH, LABEL_ROWS, LABEL_HEIGHT = 44.0, 2, 11.0


@dataclass(frozen=True, slots=True)
class Line:
    """One curve. Values that are not finite are gaps, shown by ticks at the bottom."""

    name: str
    steps: FloatArray
    values: FloatArray
    colour: int | None = None
    """Number of its colour in the style sheet; its place among the lines by default."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a finding began."""

    step: float
    label: str
    style: str
    """Class of the style sheet: error, warning or info."""


@dataclass(frozen=True, slots=True)
class Chart:
    """What one picture shows."""

    title: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    threshold: float | None = None
    steps: tuple[float, float] | None = None
    """The range of steps, where several pictures share one."""
    log: bool = False
    width: int = 340
    height: int = 150


def svg(chart: Chart) -> str:
    """The picture; empty where no line has a finite value."""
    lines = [_finite_steps(line) for line in chart.lines]
    found = [line.values[np.isfinite(line.values)] for line in lines]
    values = np.concatenate(found) if found else np.empty(0)
    if not values.size:
        return ""
    right, bottom = chart.width - RIGHT, chart.height - BOTTOM
    x = linear(*(chart.steps or _span(np.concatenate([line.steps for line in lines]))), LEFT, right)
    y = _vertical(chart, values, bottom)
    parts = [
        _grid(chart, x, y),
        *(
            _curve(line, x, y, index if line.colour is None else line.colour, bottom)
            for index, line in enumerate(lines)
        ),
        _goal(chart, y),
        _marks(chart.marks, x, bottom),
    ]
    return (
        f'<svg viewBox="0 0 {chart.width} {chart.height}" role="img" aria-label="{_text(chart.title)}">'
        f"{''.join(parts)}</svg>"
    )


def thin(steps: FloatArray, values: FloatArray, points: int = MAX_POINTS) -> tuple[FloatArray, FloatArray]:
    """At most so many points: of each stretch the least and the greatest; a stretch without any stays a gap."""
    if values.size <= points:
        return steps, values
    edges = np.linspace(0, values.size, points // 2 + 1).astype(int)
    kept: list[int] = []
    for first, last in pairwise(edges.tolist()):
        part = values[first:last]
        sound = np.flatnonzero(np.isfinite(part))
        if not sound.size:
            kept.append(first)
            continue
        low, high = int(sound[part[sound].argmin()]), int(sound[part[sound].argmax()])
        kept += [first + index for index in sorted({low, high})]
    return steps[kept], values[kept]


def _finite_steps(line: Line) -> Line:
    sound = np.isfinite(line.steps)
    return replace(line, steps=line.steps[sound], values=line.values[sound])


def _span(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _vertical(chart: Chart, values: FloatArray, bottom: float) -> Scale:
    low, high = _span(values)
    if chart.log and low > 0:
        return logarithmic(low, high, bottom, TOP)
    goal = chart.threshold
    if goal is not None and _near(goal, low, high):
        low, high = min(low, goal), max(high, goal)
    return widened(linear(low, high, bottom, TOP), Y_TICKS)


def _near(goal: float, low: float, high: float) -> bool:
    """A threshold far off would flatten the curve; it is then named in words only."""
    middle, span = low / 2 + high / 2, high / 2 - low / 2
    return span == 0 or abs(goal / 2 - middle / 2) <= 10 * span


def _grid(chart: Chart, x: Scale, y: Scale) -> str:
    right, bottom = chart.width - RIGHT, chart.height - BOTTOM
    parts = []
    for value in y.ticks(Y_TICKS):
        at = y(value)
        parts.append(f'<path class="grid" d="M{LEFT:.0f} {at:.1f}H{right:.0f}"/>')
        parts.append(_label("tick", LEFT - 5, at + 3, "end", tick_text(value)))
    ticks = x.ticks(6 if chart.width > 600 else 4)
    for value in ticks:
        place = "middle" if x(value) < right - 20 else "end"
        parts.append(_label("tick", x(value), bottom + 13, place, tick_text(value)))
    parts.append(f'<path class="axis" d="M{LEFT:.0f} {bottom:.1f}H{right:.0f}"/>')
    return "".join(parts)


def _curve(line: Line, x: Scale, y: Scale, index: int, bottom: float) -> str:
    steps, values = thin(line.steps, line.values)
    path: list[str] = []
    pen = "M"
    for step, value in zip(steps.tolist(), values.tolist(), strict=True):
        if not np.isfinite(value):
            pen = "M"
            continue
        path.append(f"{pen}{x(step):.1f} {y(value):.1f}")
        pen = "L"
    parts = [f'<path class="line line-{index}" d="{"".join(path)}"/>']
    if values.size <= FEW_POINTS:
        parts += [
            f'<circle class="dot line-{index}" cx="{x(step):.1f}" cy="{y(value):.1f}" r="1.8"/>'
            for step, value in zip(steps.tolist(), values.tolist(), strict=True)
            if np.isfinite(value)
        ]
    return "".join(parts) + _gaps(line, x, bottom) + _told(line, steps, values, x, y)


def _told(line: Line, steps: FloatArray, values: FloatArray, x: Scale, y: Scale) -> str:
    """Places that show a value where the pointer rests on them; a page without scripts has no other way."""
    sound = np.flatnonzero(np.isfinite(values))
    chosen = sound[np.unique(np.linspace(0, sound.size - 1, MAX_TOLD).astype(int))] if sound.size else sound
    return "".join(
        f'<circle class="told" cx="{x(step):.1f}" cy="{y(value):.1f}" r="{NEAR}">'
        f"<title>{_text(line.name)} {number(value)} at step {number(step)}</title></circle>"
        for step, value in zip(steps[chosen].tolist(), values[chosen].tolist(), strict=True)
    )


def _gaps(line: Line, x: Scale, bottom: float) -> str:
    broken = line.steps[~np.isfinite(line.values)]
    if not broken.size:
        return ""
    at = sorted({round(x(step)) for step in broken.tolist()})
    return f'<path class="gap" d="{"".join(f"M{place} {bottom - 6:.0f}v6" for place in at)}"/>'


def _goal(chart: Chart, y: Scale) -> str:
    goal, right = chart.threshold, chart.width - RIGHT
    if goal is None:
        return ""
    if not y.low <= goal <= y.high:
        where, at = ("above", TOP + 10) if goal > y.high else ("below", chart.height - BOTTOM - 4)
        words = f"threshold {tick_text(goal)} is {where} this picture"
        return _label("goal", right, at, "end", words)
    line = f'<path class="goal" d="M{LEFT:.0f} {y(goal):.1f}H{right:.0f}"/>'
    return line + _label("goal", LEFT + 4, y(goal) - 4, "start", f"threshold {tick_text(goal)}")


def _marks(marks: Sequence[Mark], x: Scale, bottom: float) -> str:
    parts = []
    ends = [float("-inf")] * LABEL_ROWS
    for mark in sorted(marks, key=lambda item: item.step)[:MAX_MARKS]:
        if not x.low <= mark.step <= x.high:
            continue
        at = x(mark.step)
        parts.append(f'<path class="mark {mark.style}" d="M{at:.1f} {TOP - 2:.0f}V{bottom:.1f}"/>')
        row = next((index for index, end in enumerate(ends) if at - LABEL_WIDTH / 2 >= end), None)
        if row is None:
            continue
        ends[row] = at + LABEL_WIDTH / 2
        place = "start" if at < LEFT + LABEL_WIDTH / 2 else ("end" if at > x.end - LABEL_WIDTH / 2 else "middle")
        parts.append(_label(f"mark {mark.style}", at, TOP - 5 - row * LABEL_HEIGHT, place, _text(mark.label)))
    return "".join(parts)


def _label(style: str, x: float, y: float, anchor: str, text: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _text(text: str) -> str:
    return escape(printable(" ".join(text.split())), quote=True)
