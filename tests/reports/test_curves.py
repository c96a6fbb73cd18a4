"""Curves: what is kept of a long series, and that every input gives a drawable picture."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.reports.curves import Chart, Line, Mark, svg, thin
from rlclinic.reports.scales import linear, logarithmic, tick_text, widened

anything = st.floats(allow_nan=True, allow_infinity=True)
finite = st.floats(allow_nan=False, allow_infinity=False)


def chart(values: list[float], *, threshold: float | None = None, log: bool = False) -> Chart:
    steps = np.arange(float(len(values)))
    marks = (Mark(1.0, "POL01", "error"),)
    return Chart("x over steps", (Line("x", steps, np.array(values)),), marks, threshold, log=log)


@settings(derandomize=True, max_examples=200)
@given(st.lists(anything, max_size=60), st.none() | finite, st.sampled_from(["log", "even"]))
def test_any_values_give_a_picture_whose_every_place_is_inside(
    values: list[float], goal: float | None, log: Literal["log", "even"]
) -> None:
    with np.errstate(all="raise"):
        drawn = svg(chart(values, threshold=goal, log=log == "log"))
    if not any(math.isfinite(value) for value in values):
        assert drawn == ""
        return
    picture = ElementTree.fromstring(drawn)
    lines = [node.attrib["d"] for node in picture if node.attrib.get("class") == "line line-0"]
    places = [(float(x), float(y)) for path in lines for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]
    assert len(places) == sum(math.isfinite(value) for value in values)
    assert all(0 <= x <= 340 and 0 <= y <= 150 for x, y in places)
    assert "nan" not in drawn
    assert "inf" not in "".join(lines)


@settings(derandomize=True, max_examples=60)
@given(st.lists(finite, min_size=1, max_size=2000))
def test_thinning_keeps_the_least_and_the_greatest(values: list[float]) -> None:
    array = np.array(values)
    steps, kept = thin(np.arange(float(array.size)), array, points=40)
    assert kept.size <= max(40, min(array.size, 40))
    assert (kept.min(), kept.max()) == (array.min(), array.max())
    assert np.all(np.diff(steps) > 0)


def test_one_spike_among_many_points_is_drawn() -> None:
    values = np.zeros(100_000)
    values[54_321] = 7.0
    steps, kept = thin(np.arange(100_000.0), values)
    assert kept.size <= 400
    assert steps[kept.argmax()] == 54_321


def test_a_stretch_without_finite_values_stays_a_gap() -> None:
    values = np.ones(1000)
    values[400:600] = np.nan
    _, kept = thin(np.arange(1000.0), values, points=40)
    assert np.isnan(kept).any()
    drawn = svg(chart([1.0, 2.0, math.nan, 3.0, 4.0]))
    path = re.search(r'class="line line-0" d="([^"]*)"', drawn)
    assert path is not None
    assert path[1].count("M") == 2
    assert 'class="gap"' in drawn


def test_a_threshold_near_the_curve_is_drawn_and_one_far_off_is_named() -> None:
    assert '<path class="goal"' in svg(chart([0.0, 10.0], threshold=50.0))
    far = svg(chart([0.0, 10.0], threshold=1e6))
    assert '<path class="goal"' not in far
    assert "threshold 1M is above this picture" in far
    assert "is below this picture" in svg(chart([0.0, 10.0], threshold=-1e6))


def test_labels_of_marks_do_not_lie_on_each_other() -> None:
    steps = np.arange(1000.0)
    marks = tuple(Mark(500.0 + index, f"POL0{index}", "error") for index in range(4))
    drawn = svg(Chart("x", (Line("x", steps, steps),), marks))
    heights = re.findall(r'<text class="mark error" x="[\d.]+" y="([\d.]+)"', drawn)
    assert len(heights) == len(set(heights)) == 2
    assert drawn.count('<path class="mark error"') == 4


def test_a_mark_outside_the_curve_is_not_drawn() -> None:
    assert "mark" not in svg(Chart("x", (Line("x", np.arange(5.0), np.arange(5.0)),), (Mark(99.0, "A", "error"),)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (475.0, "475"),
        (1_000.0, "1k"),
        (12_500.0, "12.5k"),
        (2e6, "2M"),
        (-0.25, "-0.25"),
        (1e-5, "1e-5"),
        (3e15, "3e15"),
        (math.inf, "inf"),
    ],
)
def test_ticks_are_short(value: float, text: str) -> None:
    assert tick_text(value) == text


def test_ticks_are_round_and_inside() -> None:
    assert linear(3.0, 97.0, 0.0, 1.0).ticks(4) == [50.0]
    assert widened(linear(3.0, 97.0, 0.0, 1.0), 4).ticks(4) == [0.0, 50.0, 100.0]
    assert logarithmic(0.5, 2e4, 0.0, 1.0).ticks(5) == [1.0, 10.0, 100.0, 1_000.0, 10_000.0]
