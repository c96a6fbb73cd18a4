"""Pictures that are pictures."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from rlclinic.reports.curves import Chart, Line
from rlclinic.reports.png import png


def pixels(data: bytes) -> np.ndarray:
    """The colours of a PNG."""
    image = Image.open(BytesIO(data))
    assert image.format == "PNG"
    return np.asarray(image.convert("RGB")).astype(int)


def test_a_plot_is_a_png_in_which_the_curve_rises() -> None:
    x = np.arange(200.0)
    image = pixels(png(Chart("squares", (Line("a", x, x**2),), width=400, height=300), "epoch"))
    assert image.shape == (300, 400, 3)
    rows, columns = np.nonzero((image[60:] == (0x00, 0x72, 0xB2)).all(axis=2))
    assert rows[columns < 120].mean() > rows[columns > 340].mean() + 100


def test_title_and_legend_are_written() -> None:
    line = Line("some metric", np.arange(5.0), np.arange(5.0))
    written = pixels(png(Chart("a title", (line,), width=400, height=300), "epoch"))
    empty = pixels(png(Chart("", (Line("", line.steps, line.values),), width=400, height=300), "epoch"))
    places = np.nonzero((written != empty).any(axis=2))[0]
    assert places.min() < 20
    assert 26 < places.max() < 45, "nothing but the two texts differs"


@pytest.mark.parametrize(
    "values",
    [[], [np.nan, np.nan], [5.0], [1.0, 1.0, 1.0], [1.0, np.inf, 2.0], [-1e308, 1e308], list(np.sin(np.arange(1e5)))],
)
def test_odd_curves_are_drawn_or_left_out_but_never_fail(values: list[float]) -> None:
    y = np.array(values, dtype=np.float64)
    line = Line("ü中\n" * 300, np.arange(float(y.size)), y)
    image = pixels(png(Chart("t" * 999, (line,), width=9, height=10**6), "x"))
    assert image.shape == (1600, 200, 3)
    curve = (image[60:] == (0x00, 0x72, 0xB2)).all(axis=2).any()
    assert curve == bool(np.isfinite(y).any())
