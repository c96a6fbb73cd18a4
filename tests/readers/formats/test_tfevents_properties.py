"""Properties of the event reader over generated files: columns equal one-by-one reading."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.tensorboard import records as tfevents_records
from rlclinic.readers.formats.tensorboard import tfrecord
from rlclinic.readers.formats.tensorboard.tfevents import EventFile, read_events
from tests.readers.formats.event_writer import (
    chunk,
    double,
    event,
    integer,
    metadata,
    record,
    simple,
    single,
    tensor,
    text,
    varint,
)

TAGS = ("a", "b", "loss/value", "loss/other", "a rather long tag with ümlauts", "x" * 200)
FLOATS = st.floats(width=32)
STEPS = st.one_of(st.none(), st.integers(0, 300), st.integers(-(2**63), 2**63 - 1))


def tensors(tag: str) -> st.SearchStrategy[bytes]:
    """Scalar tensors in several forms, and some that are not scalars."""
    return st.one_of(
        FLOATS.map(lambda x: tensor(tag, 1, chunk(5, struct.pack("<f", x)))),
        FLOATS.map(lambda x: tensor(tag, 1, single(5, x), plugin="")),
        st.floats().map(lambda x: tensor(tag, 2, double(6, x))),
        st.integers(-(2**31), 2**31 - 1).map(lambda x: tensor(tag, 3, chunk(7, varint(x)))),
        st.integers(-(2**63), 2**63 - 1).map(lambda x: tensor(tag, 9, integer(10, x))),
        st.integers(0, 65535).map(lambda x: tensor(tag, 19, chunk(13, varint(x)))),
        st.integers(0, 65535).map(lambda x: tensor(tag, 14, chunk(4, struct.pack("<H", x)))),
        st.integers(0, 2**64 - 1).map(lambda x: tensor(tag, 23, chunk(17, varint(x)))),
        st.booleans().map(lambda x: tensor(tag, 10, integer(11, x))),
        st.binary(min_size=8, max_size=8).map(lambda x: tensor(tag, 1, chunk(4, x), dims=(2,))),
        st.sampled_from(["one", "two"]).map(lambda x: text(tag, x)),
    )


def simples(tag: str) -> st.SearchStrategy[bytes]:
    return FLOATS.map(lambda x: simple(tag, x))


def values(tag: str) -> st.SearchStrategy[bytes]:
    histogram = st.binary(min_size=3, max_size=5).map(lambda x: chunk(1, tag.encode()) + chunk(5, x))
    described = FLOATS.map(lambda x: simple(tag, x) + metadata("scalars", b"\x08\x01"))
    return st.one_of(simples(tag), simples(tag), simples(tag), tensors(tag), histogram, described)


VALUES = st.sampled_from(TAGS).flatmap(values)
EVENTS = st.builds(
    lambda parts, step, wall, extra: event(*parts, step=step, wall_time=wall, extra=extra),
    st.one_of(st.lists(VALUES, min_size=1, max_size=1), st.lists(VALUES, max_size=3)),
    STEPS,
    st.one_of(st.none(), st.floats(1e9, 2e9)),
    st.sampled_from([b"", b"", b"", integer(90, 300), chunk(91, b"new")]),
)


def repeated(seeds: list[bytes], count: int, shake: int) -> bytes:
    """A file that logs like a training run: the same events again and again, with other numbers in them."""
    rng = np.random.default_rng(shake)
    records = []
    for _ in range(count):
        for seed in seeds:
            tag = TAGS[rng.integers(len(TAGS))]
            records.append(record(seed))
            step = int(rng.integers(1 << int(rng.integers(1, 40))))
            records.append(record(event(simple(tag, float(rng.normal())), step=step, wall_time=rng.random())))
    return b"".join(records)


FILES = st.builds(repeated, st.lists(EVENTS, min_size=1, max_size=4), st.integers(1, 12), st.integers(0, 99))


@contextmanager
def setting(module: object, name: str, value: int) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def read_with(data: bytes, *, min_rows: int, window: int = 1 << 20) -> EventFile:
    with setting(tfevents_records, "_MIN_ROWS", min_rows), setting(tfrecord, "_WINDOW", window):
        return read_events(data)


def same(one: EventFile, other: EventFile) -> None:
    assert list(one.scalars) == list(other.scalars)
    for tag, column in one.scalars.items():
        expected = other.scalars[tag]
        np.testing.assert_array_equal(column.steps, expected.steps)
        np.testing.assert_array_equal(column.wall_times, expected.wall_times)
        np.testing.assert_array_equal(column.values, expected.values)
    assert (one.texts, one.hparams, one.problems) == (other.texts, other.hparams, other.problems)
    assert (one.records, one.first_wall_time) == (other.records, other.first_wall_time)
    assert one.last_wall_time == other.last_wall_time


@settings(derandomize=True, max_examples=60)
@given(FILES)
def test_reading_by_template_equals_reading_one_by_one(data: bytes) -> None:
    singly = read_with(data, min_rows=1 << 40)
    for min_rows in (1, 4, 16):
        same(read_with(data, min_rows=min_rows), singly)


@settings(derandomize=True, max_examples=40)
@given(FILES, st.integers(1, 400))
def test_the_size_of_the_search_window_does_not_matter(data: bytes, window: int) -> None:
    same(read_with(data, min_rows=4, window=window), read_with(data, min_rows=4))


@settings(derandomize=True, max_examples=60)
@given(FILES, st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 7)), min_size=1, max_size=4))
def test_flipped_bits_are_noticed_and_read_alike_by_both_ways(data: bytes, flips: list[tuple[float, int]]) -> None:
    damaged = bytearray(data)
    for share, bit in flips:
        damaged[int(share * len(damaged))] ^= 1 << bit
    found = read_with(bytes(damaged), min_rows=2)
    same(found, read_with(bytes(damaged), min_rows=1 << 40))
    whole = read_events(data)
    assert bytes(damaged) == data or found.problems
    assert whole.records - len(flips) <= found.records <= whole.records
    for tag, column in found.scalars.items():
        assert tag in whole.scalars
        assert set(column.steps.tolist()) <= set(whole.scalars[tag].steps.tolist())


@settings(derandomize=True, max_examples=40)
@given(FILES, st.floats(0, 1))
def test_a_cut_file_gives_the_beginning_of_every_column(data: bytes, share: float) -> None:
    whole, part = read_events(data), read_events(data[: int(share * len(data))])
    for tag, column in part.scalars.items():
        size = column.values.size
        np.testing.assert_array_equal(column.values, whole.scalars[tag].values[:size])
        np.testing.assert_array_equal(column.steps, whole.scalars[tag].steps[:size])
    assert len(part.problems) <= 1


@settings(derandomize=True, max_examples=200)
@given(st.binary(max_size=300))
@example(bytes(100))
def test_arbitrary_bytes_are_read_without_an_error(data: bytes) -> None:
    events = read_events(data)
    assert bool(events.problems) == bool(data) or events.records


@settings(derandomize=True, max_examples=200)
@given(st.lists(st.binary(max_size=60), max_size=5), st.integers(1, 20))
def test_arbitrary_bytes_in_sound_records_are_read_without_an_error(parts: list[bytes], times: int) -> None:
    data = b"".join(record(part) for part in parts) * times
    same(read_with(data, min_rows=2), read_with(data, min_rows=1 << 40))
    wrapped = b"".join(record(event(part, part)) for part in parts) * times
    same(read_with(wrapped, min_rows=2), read_with(wrapped, min_rows=1 << 40))
