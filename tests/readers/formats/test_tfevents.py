"""TensorBoard event files: what is decoded from intact ones."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from rlclinic.readers.formats.tensorboard.tfevents import (
    EventFile,
    TextEntry,
    is_tfevents,
    read_event_file,
    read_events,
)
from rlclinic.readers.place import named
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
    version,
)

MANY = 40  # records: enough for the fast path
FEW = 3  # records: read one by one


def points(events: EventFile, tag: str) -> list[tuple[int, float, float]]:
    column = events.scalars[tag]
    return list(zip(column.steps.tolist(), column.wall_times.tolist(), column.values.tolist(), strict=True))


@pytest.mark.parametrize("count", [FEW, MANY])
def test_scalars_come_back_in_file_order_with_step_time_and_value(count: int) -> None:
    written = [(i * 100, 1.5 + i, i / 4) for i in range(count)]
    data = b"".join(record(event(simple("loss", v), step=s, wall_time=t)) for s, t, v in written)
    events = read_events(version() + data)
    assert points(events, "loss") == written
    assert events.records == count + 1
    assert events.problems == ()
    assert (events.first_wall_time, events.last_wall_time) == (1.0, written[-1][1])


def test_tags_keep_the_order_in_which_they_first_appear() -> None:
    tags = ["zeta", "b", "alpha/much/longer/name", "a"] * MANY
    data = b"".join(record(event(simple(tag, 1.0), step=1)) for tag in tags)
    assert list(read_events(data).scalars) == tags[:4]


@pytest.mark.parametrize("count", [FEW, MANY])
def test_several_values_in_one_event_are_all_read(count: int) -> None:
    data = b"".join(record(event(simple("a", i), simple("b", -i), simple("a", i + 0.5), step=i)) for i in range(count))
    events = read_events(data)
    assert events.scalars["a"].values.tolist() == [x for i in range(count) for x in (i, i + 0.5)]
    assert events.scalars["b"].values.tolist() == [-i for i in range(count)]


NUMBERS = {
    "float_val packed": (1, chunk(5, struct.pack("<f", 2.5)), 2.5),
    "float_val unpacked": (1, single(5, 2.5), 2.5),
    "float in tensor_content": (1, chunk(4, struct.pack("<f", 2.5)), 2.5),
    "float left out": (1, b"", 0.0),
    "double_val packed": (2, chunk(6, struct.pack("<d", 1 / 3)), 1 / 3),
    "double_val unpacked": (2, double(6, 1 / 3), 1 / 3),
    "double in tensor_content": (2, chunk(4, struct.pack("<d", 1 / 3)), 1 / 3),
    "int_val packed": (3, chunk(7, varint(-5)), -5.0),
    "int_val unpacked": (3, integer(7, 70_000), 70_000.0),
    "int32 in tensor_content": (3, chunk(4, struct.pack("<i", -9)), -9.0),
    "int8 in int_val": (6, chunk(7, varint(-128)), -128.0),
    "uint8 in tensor_content": (4, chunk(4, b"\xc8"), 200.0),
    "int64_val packed": (9, chunk(10, varint(1 << 40)), float(1 << 40)),
    "int64_val unpacked": (9, integer(10, -3), -3.0),
    "bool_val": (10, chunk(11, b"\x01"), 1.0),
    "bool in tensor_content": (10, chunk(4, b"\x00"), 0.0),
    "half_val": (19, chunk(13, varint(0x3E00)), 1.5),
    "half in tensor_content": (19, chunk(4, struct.pack("<e", -0.25)), -0.25),
    "bfloat16 in half_val": (14, chunk(13, varint(0x3FC0)), 1.5),
    "bfloat16 in tensor_content": (14, chunk(4, b"\xc0\x3f"), 1.5),
    "uint32_val": (22, chunk(16, varint(4_000_000_000)), 4e9),
    "uint64_val": (23, integer(17, 1 << 63), float(1 << 63)),
}


@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_scalar_tensor_is_a_scalar_however_its_number_is_stored(name: str, count: int) -> None:
    dtype, numbers, value = NUMBERS[name]
    data = b"".join(record(event(tensor("t", dtype, numbers), step=i)) for i in range(count))
    assert read_events(data).scalars["t"].values.tolist() == [value] * count


def test_one_wide_number_and_two_narrow_ones_of_the_same_size_are_told_apart() -> None:
    wide = record(event(tensor("t", 3, chunk(7, varint(300))), step=1))
    narrow = record(event(tensor("t", 3, chunk(7, b"\x05\x01")), step=1))
    assert len(wide) == len(narrow)
    assert read_events((wide + narrow) * MANY).scalars["t"].values.tolist() == [300.0] * MANY


def test_a_tensor_of_one_element_without_plugin_is_a_scalar() -> None:
    data = record(event(tensor("t", 1, single(5, 4.0), dims=(1,), plugin=""), step=1))
    assert points(read_events(data), "t") == [(1, 1.0, 4.0)]


@pytest.mark.parametrize("count", [FEW, MANY])
def test_histograms_images_and_larger_tensors_are_skipped(count: int) -> None:
    others = [
        chunk(1, b"histogram") + chunk(5, b"\x09" + bytes(8)),
        chunk(1, b"image") + chunk(4, b"not a picture"),
        tensor("vector", 1, chunk(5, bytes(12)), dims=(3,)),
        tensor("counts", 1, chunk(4, bytes(4)), dims=(1, 1), plugin="histograms"),
        tensor("too many", 1, chunk(5, bytes(8))),
        tensor("picture", 7, chunk(8, b"\x89PNG"), dims=(1,), plugin="images"),
    ]
    data = b"".join(record(event(*others, simple("kept", i), step=i)) for i in range(count))
    events = read_events(data)
    assert list(events.scalars) == ["kept"]
    assert events.scalars["kept"].values.tolist() == list(range(count))
    assert events.texts == ()
    assert events.problems == ()


@pytest.mark.parametrize("count", [FEW, MANY])
def test_a_zero_is_read_whether_it_is_written_or_left_out(count: int) -> None:
    data = b"".join(
        record(event(simple("written", 0.0), step=i)) + record(event(chunk(1, b"left out"), step=i))
        for i in range(count)
    )
    events = read_events(data)
    assert events.scalars["written"].values.tolist() == [0.0] * count
    assert events.scalars["left out"].values.tolist() == [0.0] * count


@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize(("step", "expected"), [(None, 0), (-1, -1), (-(1 << 63), -(1 << 63)), (1 << 40, 1 << 40)])
def test_steps_may_be_missing_negative_or_large(step: int | None, expected: int, count: int) -> None:
    data = b"".join(record(event(simple("a", 1.0), step=step)) for _ in range(count))
    assert read_events(data).scalars["a"].steps.tolist() == [expected] * count


@pytest.mark.parametrize("count", [FEW, MANY])
def test_values_that_are_not_finite_are_kept(count: int) -> None:
    values = [float("inf"), float("-inf"), float("nan")] * count
    data = b"".join(record(event(simple("a", value), step=1)) for value in values)
    np.testing.assert_array_equal(read_events(data).scalars["a"].values, values)


def test_unknown_fields_are_skipped() -> None:
    extra = integer(90, 5) + double(91, 1.0) + single(92, 1.0) + chunk(93, b"new")
    value = simple("a", 3.0) + integer(50, 1) + chunk(51, b"x")
    assert points(read_events(record(event(value, step=2, extra=extra))), "a") == [(2, 1.0, 3.0)]


def test_a_tag_that_is_not_utf8_is_read_with_replacements() -> None:
    assert list(read_events(record(event(simple(b"a\xff", 1.0)))).scalars) == ["a\ufffd"]


def test_a_wall_time_that_is_missing_is_zero_in_the_column_and_unknown_for_the_file() -> None:
    events = read_events(record(event(simple("a", 1.0), step=3, wall_time=None)))
    assert points(events, "a") == [(3, 0.0, 1.0)]
    assert events.first_wall_time is None


def test_texts_are_read_with_their_tag_step_and_time() -> None:
    data = record(event(text("notes/text_summary", "|param|value|", "größe"), step=4, wall_time=2.0))
    assert read_events(data).texts == (TextEntry("notes/text_summary", 4, 2.0, "|param|value|\ngröße"),)


def test_a_tag_keeps_the_plugin_that_it_was_first_written_with() -> None:
    first = record(event(text("notes", "one"))) + record(event(text("notes", "two", plugin="")))
    assert [entry.text for entry in read_events(first).texts] == ["one", "two"]


def hparam(key: str, value: bytes) -> bytes:
    return chunk(1, chunk(1, key.encode()) + chunk(2, value))


def hparams_event(content: bytes, tag: str = "_hparams_/session_start_info") -> bytes:
    return record(event(chunk(1, tag.encode()) + metadata("hparams", content)))


def test_hyperparameters_of_the_hparams_plugin_are_read() -> None:
    nested = chunk(6, chunk(1, double(2, 1.0)) + chunk(1, chunk(3, b"x")))
    struct_ = chunk(5, chunk(1, chunk(1, b"k") + chunk(2, integer(4, 0))))
    entries = (
        hparam("lr", double(2, 0.001))
        + hparam("name", chunk(3, b"ppo"))
        + hparam("clip", integer(4, 1))
        + hparam("none", integer(1, 0))
        + hparam("net", nested)
        + hparam("opt", struct_)
    )
    events = read_events(hparams_event(chunk(3, entries)) + hparams_event(chunk(4, integer(1, 2)), "end"))
    expected = {
        "lr": 0.001,
        "name": "ppo",
        "clip": True,
        "none": None,
        "net": [1.0, "x"],
        "opt": {"k": False},
    }
    assert events.hparams == expected
    assert [entry.text for entry in events.texts][1] == '{"status": "failure"}'
    assert events.scalars == {}


def test_hyperparameters_nested_without_end_are_cut_off() -> None:
    value = double(2, 1.0)
    for _ in range(3000):
        value = chunk(6, chunk(1, value))
    found = read_events(hparams_event(chunk(3, hparam("deep", value)))).hparams["deep"]
    assert str(found).startswith("[[[")
    assert "None" in str(found)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_kind_of_buffer_is_read(kind: type[bytes]) -> None:
    assert list(read_events(kind(record(event(simple("a", 1.0))))).scalars) == ["a"]


def test_columns_cannot_be_written_to() -> None:
    column = read_events(record(event(simple("a", 1.0)))).scalars["a"]
    with pytest.raises(ValueError, match="read-only"):
        column.values[0] = 2.0


def test_a_file_is_read_up_to_the_limit_and_says_so(tmp_path: Path) -> None:
    one = record(event(simple("a", 1.0), step=1))
    path = tmp_path / "events"
    path.write_bytes(one * 10)
    assert read_event_file(named(path)).records == 10
    cut = read_event_file(named(path), max_bytes=len(one) * 3)
    assert cut.records == 3
    assert cut.problems == (f"file has {len(one) * 10} bytes, only the first {len(one) * 3} were read",)


def test_what_cannot_be_opened_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_event_file(named(tmp_path / "missing"))
    with pytest.raises(OSError, match="not a regular file"):
        read_event_file(named(tmp_path))


def test_event_files_are_known_by_their_first_bytes() -> None:
    first = version() + record(event(simple("a", 1.0)))
    assert is_tfevents(first)
    assert is_tfevents(first[:20])
    assert is_tfevents(record(event(simple("a", 1.0), step=1))[:64])


@pytest.mark.parametrize(
    "head",
    [
        b"",
        version()[:12],
        b"\x01" + version()[1:],
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0",
        record(chunk(1, b"a training example")),
        record(b"\x09broken"),
        record(b""),
        bytes(64),
    ],
)
def test_other_files_are_not_taken_for_event_files(head: bytes) -> None:
    assert not is_tfevents(head)


def test_reading_takes_less_than_six_times_the_memory_of_the_file() -> None:
    block = b"".join(record(event(simple(f"train/metric{i:02}", i), step=1000 + i)) for i in range(20))
    data = block * 5000
    read_events(data[: len(block) * 50])
    tracemalloc.start()
    try:
        events = read_events(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert events.records == 100_000
    assert peak < 5 * len(data)
