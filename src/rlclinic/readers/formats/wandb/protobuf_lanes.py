"""The protobuf wire format walked in many messages side by side with numpy, one field of each per step.

A lane is one message. A lane that holds anything unusual (a field number above 2047, a length of 256 MiB, a
group, a field that does not fit) is reported as not regular and is left to the walker in protobuf.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.protobuf import BYTES, FIXED32, FIXED64, VARINT

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

PAD = 320  # zero bytes that must surround the messages, so that no read of words near a span leaves the buffer
MIN_LANES = 24  # below this many open lanes the plain walker is faster than a numpy step
_LOW7, _HIGH, _HIGH7, _HIGH2 = np.uint64(0x7F), np.uint64(0x80), np.uint64(0x7F << 7), np.uint64(0x8000)
_B7, _B8, _B16 = np.uint64(7), np.uint64(8), np.uint64(16)
_CONTINUES = np.uint64(0x8080_8080_8080_8080)


@dataclass(frozen=True, slots=True)
class Buffer:
    """Bytes with their numpy views: single bytes, and the little-endian word of 8 that starts at each."""

    raw: bytes
    bytes: NDArray[np.uint8]
    words: Words


@dataclass(frozen=True, slots=True)
class Step:
    """The next field of every lane: tag (number << 3 | wire type), span of the value, regular or not."""

    tag: Ints
    start: Ints
    end: Ints
    regular: Bools


@dataclass(frozen=True, slots=True)
class FieldTable:
    """All fields of all regular lanes, ordered by lane and by position."""

    lane: Ints
    tag: Ints
    start: Ints
    end: Ints
    regular: Bools  # per lane


def buffer(raw: bytes) -> Buffer:
    """Wrap bytes that begin and end with PAD zero bytes."""
    words: Words = np.ndarray((len(raw) - 7,), np.dtype("<u8"), raw, strides=(1,))
    return Buffer(raw, np.frombuffer(raw, np.uint8), words)


def step(words: Words, pos: Ints, limit: Ints) -> Step:
    """Read the field at `pos` in every lane; the lane's message ends at `limit`."""
    word = words[pos]
    wide = (word & _HIGH) != 0
    if not wide.any():
        tag, start = word & _LOW7, pos + 2
        word >>= _B8
        regular = tag >= _B8
    else:
        tag = (word & _LOW7) | np.where(wide, (word >> np.uint64(1)) & _HIGH7, np.uint64(0))
        start = pos + 2 + wide
        regular = (tag >= _B8) & ~(wide & ((word & _HIGH2) != 0))
        word >>= np.where(wide, _B16, _B8)
    size = (word & _LOW7).view(np.int64)
    odd = (((tag ^ np.uint64(BYTES)) & _B7) | (word & _HIGH)) != 0
    if odd.any():
        _odd(words, np.flatnonzero(odd), word, tag & _B7, start, size, regular)
    end = start + size
    regular &= end <= limit
    return Step(tag.view(np.int64), start, end, regular)


def walk(words: Words, starts: Ints, ends: Ints, *, min_lanes: int = MIN_LANES) -> FieldTable:
    """Split many messages into their fields."""
    regular = np.ones(starts.size, np.bool_)
    counts = np.zeros(starts.size, np.int64)
    lanes = np.flatnonzero(starts < ends)
    pos, limit = starts[lanes], ends[lanes]
    found: list[tuple[Ints, Step]] = []
    while lanes.size:
        if lanes.size < min_lanes:
            regular[lanes] = False
            break
        now = step(words, pos, limit)
        if not now.regular.all():
            regular[lanes[~now.regular]] = False
        counts[lanes] += 1
        found.append((lanes, now))
        more = now.regular & (now.end < limit)
        if more.all():
            pos = now.end
        else:
            lanes, pos, limit = lanes[more], now.end[more], limit[more]
    return _table(counts, found, regular)


def _odd(words: Words, at: Ints, word: Words, wire: Words, start: Ints, size: Ints, regular: Bools) -> None:
    """Correct start and size, in place, for values that are no byte string or have a length of several bytes."""
    word, wire = word[at], wire[at]
    length = size[at]
    for byte in range(1, 4):
        more = ((word >> np.uint64(8 * byte - 1)) & np.uint64(1)).astype(np.bool_) & (wire == BYTES)
        word = np.where(more, word, np.uint64(0))
        if not more.any():
            break
        low = ((word >> np.uint64(8 * byte)) & _LOW7).astype(np.int64)
        length |= low << (7 * byte)
        start[at] += more
    regular[at[((word >> np.uint64(31)) & np.uint64(1)).astype(np.bool_)]] = False
    size[at] = length
    for code, width in ((VARINT, None), (FIXED64, 8), (FIXED32, 4)):
        lanes = at[wire == code]
        start[lanes] -= 1
        size[lanes] = _varint_width(words, start[lanes]) if width is None else width
        regular[lanes[size[lanes] == 0]] = False
    regular[at[~np.isin(wire, (VARINT, FIXED64, BYTES, FIXED32))]] = False


def _varint_width(words: Words, pos: Ints) -> Ints:
    """Bytes of the varint at each position; 0 if it takes more than 8."""
    stops = ~words[pos] & _CONTINUES
    first = stops & (~stops + np.uint64(1))
    # `first` is 0x80 << 8k for a varint of k + 1 bytes: the product moves k + 1 into the top byte.
    return (((first >> _B7) * np.uint64(0x0102_0304_0506_0708)) >> np.uint64(56)).astype(np.int64)


def _table(counts: Ints, found: list[tuple[Ints, Step]], regular: Bools) -> FieldTable:
    base = np.cumsum(counts) - counts
    lane = np.repeat(np.arange(counts.size), counts)
    tag, start, end = (np.empty(lane.size, np.int64) for _ in range(3))
    for number, (lanes, now) in enumerate(found):
        to = base[lanes] + number
        tag[to], start[to], end[to] = now.tag, now.start, now.end
    if not regular.all():
        keep = regular[lane]
        lane, tag, start, end = lane[keep], tag[keep], start[keep], end[keep]
    return FieldTable(lane, tag, start, end, regular)
