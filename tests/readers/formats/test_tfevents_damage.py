"""TensorBoard event files that are torn, damaged, empty or hostile: the readable part and plain notes."""

from __future__ import annotations

import struct
import time
import tracemalloc

import pytest

from rlclinic.readers.formats.tensorboard import scalars as tfevents_scalars
from rlclinic.readers.formats.tensorboard import tfrecord
from rlclinic.readers.formats.tensorboard.tfevents import read_events
from tests.readers.formats.event_writer import chunk, event, masked, record, simple, version

ONE = record(event(simple("loss", 1.0), step=300))  # bytes of each record below


def numbered(count: int) -> bytes:
    return b"".join(record(event(simple("loss", i), step=300 + i)) for i in range(count))


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]


def kept(data: bytes) -> list[float]:
    events = read_events(data)
    return events.scalars["loss"].values.tolist() if events.scalars else []


@pytest.mark.parametrize("count", [3, 60])
@pytest.mark.parametrize("place", [12, 14, 22, 24, 30, 36, 41, len(ONE) - 1])
def test_a_record_with_damaged_data_is_skipped_and_named(count: int, place: int) -> None:
    data = flipped(numbered(count), len(ONE) + place)
    assert kept(data) == [0, *range(2, count)]
    events = read_events(data)
    assert events.problems == (f"record 2 at byte {len(ONE)}: checksum does not match, skipped",)
    assert events.records == count - 1


@pytest.mark.parametrize("count", [3, 60])
@pytest.mark.parametrize("place", [0, 1, 7, 8, 11])
def test_after_a_damaged_length_reading_goes_on_at_the_next_intact_record(count: int, place: int) -> None:
    data = flipped(numbered(count), len(ONE) + place)
    assert kept(data) == [0, *range(2, count)]
    note = f"byte {len(ONE)}: record length does not match its checksum, {len(ONE)} bytes skipped"
    assert read_events(data).problems == (note,)


def test_when_nothing_intact_follows_the_rest_is_given_up() -> None:
    data = numbered(20) + bytes(500)
    assert kept(data) == list(range(20))
    note = f"byte {20 * len(ONE)}: record length does not match its checksum, 500 bytes skipped"
    assert read_events(data).problems == (note,)


def test_a_header_that_only_looks_right_is_not_where_reading_goes_on() -> None:
    fake = ONE[:12] + bytes(len(ONE) - 12)
    data = numbered(3) + b"garbage" + fake + numbered(3)
    assert kept(data) == [0, 1, 2, 0, 1, 2]
    assert read_events(numbered(3) + b"garbage" + fake).problems == (
        f"byte {3 * len(ONE)}: record length does not match its checksum, {7 + len(fake)} bytes skipped",
    )


def test_records_inside_the_data_of_a_record_are_not_read() -> None:
    outer = record(event(simple("loss", 7.0), step=1, extra=chunk(99, ONE * 3)))
    assert kept((outer + ONE) * 30) == [7.0, 1.0] * 30


@pytest.mark.parametrize("left", range(1, len(ONE)))
def test_a_torn_last_record_is_ignored_and_named(left: int) -> None:
    data = numbered(20) + ONE[:left]
    events = read_events(data)
    assert events.records == 20
    assert events.problems == (f"torn last record of {left} bytes at byte {20 * len(ONE)} ignored",)


def test_a_growing_file_gives_more_at_every_look() -> None:
    data = version() + numbered(30)
    counts = [read_events(data[:size]).records for size in range(len(data) + 1)]
    assert counts == sorted(counts)
    assert set(counts) == set(range(32))


def test_an_empty_file_has_no_problem() -> None:
    events = read_events(b"")
    assert (events.records, dict(events.scalars), events.problems) == (0, {}, ())
    assert events.first_wall_time is None


def test_a_file_with_only_a_version_holds_no_scalar_and_no_problem() -> None:
    short = version()
    longer = short + record(event(wall_time=2.0, extra=chunk(10, b"\x0a\x0etensorboard.py")))
    assert len(short) == 40
    for data, count in ((short, 1), (longer, 2)):
        events = read_events(data)
        assert (events.records, dict(events.scalars), events.problems) == (count, {}, ())
        assert events.first_wall_time == 1.0


@pytest.mark.parametrize("length", [1 << 40, (1 << 63) - 1, (1 << 64) - 1, 65_536, 1000])
def test_a_length_beyond_the_file_takes_no_memory(length: int) -> None:
    raw = struct.pack("<Q", length)
    data = numbered(3) + raw + masked(raw) + b"x" * 50
    tracemalloc.start()
    try:
        assert kept(data) == [0, 1, 2]
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert read_events(data).problems == (f"torn last record of 62 bytes at byte {3 * len(ONE)} ignored",)


def test_a_record_with_a_matching_checksum_that_is_no_event_is_skipped_and_named() -> None:
    data = numbered(2) + record(b"\x0a\xff\xff") + numbered(1)
    assert kept(data) == [0, 1, 0]
    assert read_events(data).problems == (f"record 3 at byte {2 * len(ONE)}: not a readable event, skipped",)


def test_only_the_first_problems_are_told_one_by_one() -> None:
    data = b"".join(flipped(ONE, 20) + ONE for _ in range(50))
    problems = read_events(data).problems
    assert len(problems) == 21
    assert problems[-1] == "and 30 more problems"


def test_records_longer_than_those_found_by_search_are_read() -> None:
    big = record(event(simple("loss", 5.0), step=1, extra=chunk(99, b"\x00" * 70_000)))
    assert kept(numbered(2) + big + big + numbered(2)) == [0, 1, 5, 5, 0, 1]


def test_an_empty_record_is_a_record() -> None:
    events = read_events(record(b"") * 40 + ONE)
    assert (events.records, events.problems) == (41, ())


def test_points_of_too_many_tags_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfevents_scalars, "MAX_TAGS", 5)
    data = b"".join(record(event(simple(f"tag{i:02}", i), step=i)) for i in range(30))
    events = read_events(data)
    assert len(events.scalars) == 5
    assert any("25 points of further tags left out" in problem for problem in events.problems)


def test_endless_tiny_parts_in_one_event_are_refused() -> None:
    data = record(event(*[simple("a", 1.0)] * 30_000)) + ONE
    events = read_events(data)
    assert list(events.scalars) == ["loss"]
    assert "not a readable event" in events.problems[0]


def test_a_file_of_broken_lengths_is_given_up_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfrecord, "_MAX_LOSSES", 10)
    data = (flipped(ONE, 1) + ONE) * 2000
    started = time.thread_time()
    events = read_events(data)
    assert events.records == 10
    assert len(events.problems) == 11
    assert time.thread_time() - started < 5
