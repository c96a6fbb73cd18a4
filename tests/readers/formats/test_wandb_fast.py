"""Reading many W&B messages side by side gives exactly what reading them one by one gives."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.protobuf import WireError, fields
from rlclinic.readers.formats.wandb import decimals, wandb_log
from rlclinic.readers.formats.wandb.distinct import distinct
from rlclinic.readers.formats.wandb.protobuf_lanes import PAD, Buffer, Ints, buffer, walk
from rlclinic.readers.formats.wandb.wandb_log import Column, WandbLog
from tests.readers.formats import wandb_writer as w

ALL_SIDE_BY_SIDE, ALL_ONE_BY_ONE = 1, 10**9
PROPERTY = settings(derandomize=True, max_examples=60)

names = st.sampled_from(["loss", "train/entropy", "_step", "a", "b", "a.b", "é", "k" * 300]) | st.text(max_size=40)
paths = names | st.lists(names, min_size=1, max_size=4)
numbers = st.one_of(
    st.floats().map(json.dumps),
    st.floats(width=32).map(json.dumps),
    st.integers(-(10**22), 10**22).map(str),
    st.floats(1e-12, 1e12).map("{:e}".format),
)
values = numbers | st.sampled_from(
    ["true", "false", "null", '"NaN"', '"text"', "[1]", "{}", "", "-", "1.", ".5", "--1", '{"x": 1, "y": {"z": 2}}']
)
typed = st.one_of(
    st.floats().map(lambda value: w.double(6, value)),
    st.integers(-(2**63), 2**63 - 1).map(lambda value: w.integer(5, (value << 1) ^ (value >> 63))),
    st.booleans().map(lambda value: w.integer(4, int(value))),
    st.just(w.integer(3, 0)),
    st.text(max_size=5).map(lambda value: w.chunk(7, value)),
    values.map(lambda value: w.chunk(8, value)),
)
unknown = st.one_of(
    st.integers(0, 2**64 - 1).map(lambda value: w.integer(99, value)),
    st.binary(max_size=20).map(lambda value: w.chunk(3000, value)),
    st.just(w.varint(40 << 3 | 5) + b"1234"),
)
plain_items = st.builds(w.item, paths, values)
odd_items = st.one_of(
    st.builds(lambda path, json, more: w.item(path, json) + more, paths, values, typed | unknown),
    st.builds(lambda path, value: w.key(path) + value, paths, typed),
    st.builds(lambda path, value, json: value + w.item(path, json), paths, typed | unknown, values),
    st.binary(max_size=12),
)
rows = st.lists(
    st.one_of(plain_items, plain_items, plain_items, odd_items).map(lambda data: w.chunk(1, data)), max_size=8
)
messages = st.builds(lambda parts, tail: b"".join(parts) + tail, rows, st.just(b"") | unknown | st.binary(max_size=6))


def same(one: WandbLog, other: WandbLog) -> bool:
    return (
        same_columns(dict(one.history), dict(other.history))
        and same_columns(dict(one.stats), dict(other.stats))
        and repr(one.summary) == repr(other.summary)
        and one.config == other.config
        and (one.rows, one.exit_code, one.output, one.problems)
        == (other.rows, other.exit_code, other.output, other.problems)
    )


def same_columns(one: dict[str, Column], other: dict[str, Column]) -> bool:
    return one.keys() == other.keys() and all(
        np.array_equal(one[name].rows, other[name].rows) and bits(one[name]) == bits(other[name]) for name in one
    )


def bits(column: Column) -> bytes:
    """Values to the last bit, with every nan alike."""
    return np.where(np.isnan(column.values), np.nan, column.values).tobytes()


def both_ways(records: list[bytes]) -> tuple[WandbLog, WandbLog]:
    data = w.log(records)
    return wandb_log._read(data, min_lanes=ALL_SIDE_BY_SIDE), wandb_log._read(data, min_lanes=ALL_ONE_BY_ONE)


@PROPERTY
@given(st.lists(messages, max_size=12))
def test_history_is_the_same_both_ways(found: list[bytes]) -> None:
    fast, slow = both_ways([w.record(w.HISTORY, message) for message in found])
    assert fast.rows == slow.rows == len(found)
    assert same(fast, slow)


@PROPERTY
@given(
    st.lists(st.tuples(st.sampled_from([w.SUMMARY, w.STATS, w.CONFIG, w.OUTPUT_RAW, w.EXIT]), messages), max_size=12)
)
def test_other_records_are_the_same_both_ways(found: list[tuple[int, bytes]]) -> None:
    fast, slow = both_ways([w.record(*pair) for pair in found])
    assert same(fast, slow)


@PROPERTY
@given(st.lists(st.lists(st.tuples(paths, values), max_size=6), max_size=10))
def test_summaries_of_the_common_form_are_the_same_both_ways(found: list[list[tuple[w.Path, str]]]) -> None:
    fast, slow = both_ways([w.summary(pairs) for pairs in found])
    assert same(fast, slow)


def test_items_in_any_order_are_the_same_both_ways() -> None:
    rng = np.random.default_rng(3)
    keys = [f"group{n % 4}/metric_{n}" for n in range(30)]
    records = []
    for _ in range(300):
        order = rng.permutation(30)[: rng.integers(20, 31)]
        records.append(w.history([([keys[n]], repr(float(rng.normal() * 10.0 ** rng.integers(-9, 9)))) for n in order]))
    fast, slow = both_ways(records)
    assert len(slow.history) == 30
    assert same(fast, slow)


def spread(parts: list[bytes]) -> tuple[Buffer, Ints, Ints]:
    """Lay out byte strings in one padded buffer, next to each other."""
    ends = np.cumsum([PAD, *(len(part) for part in parts)])[1:]
    starts = ends - np.array([len(part) for part in parts], np.int64)
    return buffer(bytes(PAD) + b"".join(parts) + bytes(PAD)), starts.astype(np.int64), ends.astype(np.int64)


@PROPERTY
@given(st.lists(st.binary(max_size=30) | messages, min_size=1, max_size=12))
def test_lanes_that_are_called_regular_hold_the_fields_of_the_plain_walker(parts: list[bytes]) -> None:
    data, starts, ends = spread(parts)
    table = walk(data.words, starts, ends, min_lanes=1)
    for lane, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        mine = table.lane == lane
        found = list(zip(table.tag[mine].tolist(), table.start[mine].tolist(), table.end[mine].tolist(), strict=True))
        if table.regular[lane]:
            plain = [(one.number << 3 | one.wire, one.start, one.end) for one in fields(data.raw, start, end)]
            assert found == plain
        else:
            assert found == []


def test_ordinary_messages_are_regular() -> None:
    parts = [
        w.integer(1, 2**40),
        w.chunk(16, "x" * 20_000),
        w.double(6, 1.0),
        w.chunk(200, ""),
        b"",
        w.chunk(2047, "y"),
    ]
    data, starts, ends = spread(parts)
    assert walk(data.words, starts, ends, min_lanes=1).regular.all()


def test_the_plain_walker_refuses_what_is_malformed() -> None:
    for data in (b"\x00", b"\x0a\x05abc", b"\x0b", b"\xff" * 11, b"\x09abc", b"\x80"):
        with pytest.raises(WireError):
            list(fields(data, 0, len(data)))


@PROPERTY
@given(
    st.lists(st.sampled_from([b"", b"a", b"b", b"loss", b"x" * 300]) | st.binary(max_size=40), min_size=1, max_size=60)
)
def test_distinct_spans_are_those_with_different_bytes(parts: list[bytes]) -> None:
    data, starts, ends = spread(parts)
    which, firsts = distinct(data, starts, ends)
    assert [parts[firsts[number]] for number in which] == parts
    assert len(firsts) == len(set(parts))


def test_more_distinct_spans_than_slots_are_told_apart() -> None:
    parts = [str(n).encode() for n in range(100_000)] * 2
    data, starts, ends = spread(parts)
    which, firsts = distinct(data, starts, ends)
    assert firsts.size == 100_000
    assert (which[:100_000] == which[100_000:]).all()


ugly = st.text("0123456789+-.eE ", max_size=26).map(str.encode)
exact = st.one_of(
    st.integers(0, 2**64 - 1).map(float),
    st.integers(2**52, 2**54).map(lambda value: value / 2),
    st.floats(allow_nan=False, allow_infinity=False),
)
written = st.one_of(
    exact.map(repr),
    exact.map("{:.17g}".format),
    exact.map("{:.19e}".format),
    st.builds("{}.{}".format, st.integers(0, 10**17), st.integers(0, 10**20)),
    st.builds("{}e{:+03}".format, st.integers(0, 10**20), st.integers(-99, 99)),
).map(str.encode)


@settings(derandomize=True, max_examples=100)
@given(st.lists(written | ugly, min_size=1, max_size=30))
def test_decimals_are_rounded_as_float_rounds_them(texts: list[bytes]) -> None:
    data, starts, ends = spread(texts)
    found, good = decimals.parse(data, starts, ends)
    for text, value, is_number in zip(texts, found.tolist(), good.tolist(), strict=True):
        expected = decimals.number(text)
        assert is_number == (expected is not None)
        assert expected is None or struct.pack("<d", value) == struct.pack("<d", expected)


def test_decimals_half_way_between_two_doubles_go_to_the_even_one() -> None:
    texts = [
        b"9007199254740993",
        b"9007199254740995",
        b"4503599627370496.5",
        b"4503599627370497.5",
        b"1e+23",
        b"5e-324",
    ]
    data, starts, ends = spread(texts)
    assert decimals.parse(data, starts, ends)[0].tolist() == [float(text) for text in texts]


def test_almost_all_metrics_take_the_fast_road() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=20_000) * 10.0 ** rng.integers(-12, 12, size=20_000)
    texts = [repr(value).encode() for value in values.tolist()]
    data, starts, ends = spread(texts)
    found, done = decimals._parse_common(data, starts, ends)
    assert done.mean() > 0.999
    assert (found[done] == values[done]).all()
    assert math.isclose(found[done].sum(), values[done].sum())
