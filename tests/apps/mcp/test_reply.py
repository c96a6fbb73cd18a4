"""Answers that fit, numbers that JSON can hold, names that mean the same, pictures that are pictures."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.apps.mcp.canvas import PAPER, Canvas
from rlclinic.apps.mcp.metric_names import aliases, lookup
from rlclinic.apps.mcp.plot import Curve, plot
from rlclinic.apps.mcp.reply import LIMIT, WIDE_LIMIT, Number, Part, Reply, plain_value
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.model.vocabulary import metric


class Piece(Part):
    name: str
    value: Number | None


class Example(Reply):
    pieces: list[Piece]
    words: str
    table: dict[str, str]


def example(count: int, length: int) -> Example:
    pieces = [Piece(name=f"metric {number}", value=number / 3) for number in range(count)]
    return Example(pieces=pieces, words="x" * length, table={f"key {n}": "v" * 40 for n in range(count)})


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 900), st.integers(0, 30_000))
def test_an_answer_fits_and_says_what_it_left_out(count: int, length: int) -> None:
    whole = len(json.dumps(example(count, length).model_dump()))
    data = example(count, length).data()
    assert len(json.dumps(data, separators=(",", ":"))) <= LIMIT
    assert Example(**data).pieces == example(count, length).pieces[: len(data["pieces"])]
    if whole > 2 * LIMIT:
        assert data["left_out"].startswith("Cut to keep the answer short")


def test_a_caller_who_asks_for_more_gets_more() -> None:
    assert LIMIT < len(json.dumps(example(400, 100).said("text", wide=True).data())) < WIDE_LIMIT * 1.2


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("nan"), "nan"), (float("-inf"), "-inf"), (3.0, 3), (1 / 3, 0.333333), (1794787178.2946, 1794787178.3),
        (np.float64(2.5), 2.5), (1e-12, 1e-12), (True, True),
    ],
)  # fmt: skip
def test_numbers_are_told_as_numbers(value: float, told: object) -> None:
    assert plain_value(value) == told
    assert json.dumps(plain_value(value), allow_nan=False)


def test_every_outdated_name_means_a_canonical_metric() -> None:
    assert [name for name in aliases().values() if metric(name) is None] == []


def test_a_name_is_found_however_it_is_spelt() -> None:
    series = Series("return/train", "rollout/ep_rew_mean", np.arange(3.0), np.arange(3.0), known=True)
    run = Run("a", "a", framework="sb3", series={"return/train": series})
    for name in ("return/train", "rollout/ep_rew_mean", "Rollout/EP_rew_mean", "train/roll/ep_rew/mean", "reward"):
        assert lookup(run, name) is series, name
    assert lookup(run, "val/roll/ep_rew/mean") is None


def pixels(png: bytes) -> tuple[np.ndarray, list[bytes]]:
    """The pixels of a PNG, read by the letter of its specification."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    place, found = 8, {}
    while place < len(png):
        size, kind = struct.unpack(">I4s", png[place : place + 8])
        data = png[place + 8 : place + 8 + size]
        assert struct.unpack(">I", png[place + 8 + size : place + 12 + size])[0] == zlib.crc32(kind + data)
        found[kind] = data
        place += 12 + size
    width, height = struct.unpack(">II", found[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:], list(found)


def test_a_plot_is_a_png_in_which_the_curve_rises() -> None:
    x = np.arange(200.0)
    image, parts = pixels(plot([Curve("a", x, x**2)], title="squares", x_label="epoch", width=400, height=300))
    assert parts == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    assert image.shape == (300, 400)
    rows, columns = np.nonzero(image[60:] == 3)
    assert rows[columns < 120].mean() > rows[columns > 340].mean() + 100


@pytest.mark.parametrize(
    "values",
    [[], [np.nan, np.nan], [5.0], [1.0, 1.0, 1.0], [1.0, np.inf, 2.0], [-1e308, 1e308], list(np.sin(np.arange(1e5)))],
)
def test_odd_curves_are_drawn_or_left_out_but_never_fail(values: list[float]) -> None:
    y = np.array(values, dtype=np.float64)
    image, _ = pixels(
        plot([Curve("ü" * 300, np.arange(float(y.size)), y)], title="t" * 999, x_label="x", width=9, height=10**6)
    )
    assert image.shape == (1600, 200)


def test_text_is_drawn_with_every_printable_character() -> None:
    canvas = Canvas(600, 10)
    canvas.text(0, 0, "".join(map(chr, range(33, 127))))
    cells = [canvas.pixels[:, 6 * place : 6 * place + 5] for place in range(94)]
    assert all((cell != PAPER).any() for cell in cells)
    assert len({cell.tobytes() for cell in cells}) == 94
