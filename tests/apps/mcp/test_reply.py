"""Answers that fit, numbers that JSON can hold, names that mean the same."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.apps.mcp.reply import LIMIT, WIDE_LIMIT, Number, Part, Reply, plain_value
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.model.vocabulary import metric
from rlclinic.reference.metric_lookup import aliases, lookup


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


@settings(max_examples=25)
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
