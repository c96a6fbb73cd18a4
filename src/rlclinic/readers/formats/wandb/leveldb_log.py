"""Framing of a LevelDB-style log: 32 KiB blocks of checksummed fragments, joined into records.

Blocks are independent of each other, so the headers of all blocks are followed side by side with numpy. What
fails its checksum is dropped together with the rest of its block, and reading resumes at the next block.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass

Ints = NDArray[np.int64]

BLOCK = 32_768  # bytes, fixed by the format
HEADER = 7  # bytes: crc32 (4), length (2), type (1)
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
BATCH = 1024  # blocks followed side by side
MAX_NOTES = 5  # damaged places that are named one by one; the rest is counted


@dataclass(frozen=True, slots=True)
class LogRecords:
    """Whole records in file order, as spans of `data` followed by `joined` (records that cross blocks)."""

    data: bytes
    joined: bytes
    starts: Ints
    ends: Ints
    problems: tuple[str, ...]

    def chunks(self, size: int, pad: int) -> Iterator[tuple[bytes, Ints, Ints]]:
        """Runs of records of about `size` bytes: a buffer with `pad` zero bytes around it, and spans."""
        total = np.cumsum(self.ends - self.starts)
        first = 0
        while first < total.size:
            base = total[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(total, base + size, side="right")))
            yield self._chunk(slice(first, last), pad)
            first = last

    def up_to(self, size: int) -> LogRecords:
        """Only the records of at most `size` bytes; a note says how many were left out."""
        keep = self.ends - self.starts <= size
        if keep.all():
            return self
        note = f"{int((~keep).sum())} record(s) of more than {size} bytes left out"
        return LogRecords(self.data, self.joined, self.starts[keep], self.ends[keep], (*self.problems, note))

    def _chunk(self, part: slice, pad: int) -> tuple[bytes, Ints, Ints]:
        starts, ends, limit = self.starts[part], self.ends[part], len(self.data)
        whole = starts < limit
        low, high = _hull(starts[whole], ends[whole])
        low2, high2 = _hull(starts[~whole] - limit, ends[~whole] - limit)
        zeros = bytes(pad)
        buffer = b"".join((zeros, self.data[low:high], self.joined[low2:high2], zeros))
        shift = np.where(whole, pad - low, pad + (high - low) - low2 - limit)
        return buffer, starts + shift, ends + shift


@dataclass(frozen=True, slots=True)
class _Fragments:
    starts: Ints  # of the data, after the header
    ends: Ints
    types: NDArray[np.uint8]


@dataclass(slots=True)
class _Damage:
    headers: list[int]  # positions
    checksums: list[int]
    torn: str = ""


def read_log(data: bytes, *, offset: int) -> LogRecords:
    """Read every intact record of `data`, whose first `offset` bytes are the header of the file."""
    raw = np.frombuffer(data, np.uint8)
    damage = _Damage([], [])
    parts = []
    for base in range(0, len(data), BATCH * BLOCK):
        found = _walk_blocks(raw, base, offset if base == 0 else 0, damage)
        parts.append(_checked(data, raw, found, damage))
    notes = [*_notes(damage.headers, "broken record header"), *_notes(damage.checksums, "checksum mismatch")]
    return _join(data, _concatenate(parts), damage.torn, notes)


def _walk_blocks(raw: NDArray[np.uint8], base: int, offset: int, damage: _Damage) -> _Fragments:
    """Follow the headers in BATCH blocks from `base` on."""
    pos = np.arange(base, min(base + BATCH * BLOCK, raw.size), BLOCK, dtype=np.int64)
    limit = np.minimum(pos + BLOCK, raw.size)
    pos[0] += offset
    counts = np.zeros(pos.size, np.int64)
    lanes = np.arange(pos.size)
    steps: list[tuple[Ints, Ints, Ints]] = []
    while True:
        more = pos + HEADER <= limit
        pos, limit, lanes = pos[more], limit[more], lanes[more]
        if not lanes.size:
            break
        ends = pos + HEADER + raw[pos + 4] + (raw[pos + 5].astype(np.int64) << 8)
        kind = raw[pos + 6]
        fits = (ends <= limit) & (kind >= FULL) & (kind <= LAST)
        if not fits.all():
            _judge(raw, pos[~fits], ends[~fits], damage)
            pos, ends, limit, lanes = pos[fits], ends[fits], limit[fits], lanes[fits]
        counts[lanes] += 1
        steps.append((lanes, pos + HEADER, ends))
        pos = ends
    starts, ends = _in_file_order(counts, steps)
    return _Fragments(starts, ends, raw[starts - 1])


def _judge(raw: NDArray[np.uint8], pos: Ints, ends: Ints, damage: _Damage) -> None:
    """Note headers that lead nowhere, except zero filling and a last record that is not yet written out."""
    for at, end in zip(pos.tolist(), ends.tolist(), strict=True):
        block_end = at - at % BLOCK + BLOCK
        if not raw[at:block_end].any():
            continue
        if raw.size < end <= block_end and FULL <= raw[at + 6] <= LAST:
            damage.torn = f"byte {at}: torn last record dropped ({raw.size - at} of {end - at} bytes are there)"
        else:
            damage.headers.append(at)


def _in_file_order(counts: Ints, steps: list[tuple[Ints, Ints, Ints]]) -> tuple[Ints, Ints]:
    """Lay out what was found step by step over all blocks as block after block."""
    base = np.cumsum(counts) - counts
    starts = np.empty(int(counts.sum()), np.int64)
    ends = np.empty_like(starts)
    for number, (lanes, start, end) in enumerate(steps):
        starts[base[lanes] + number] = start
        ends[base[lanes] + number] = end
    return starts, ends


def _checked(data: bytes, raw: NDArray[np.uint8], found: _Fragments, damage: _Damage) -> _Fragments:
    """Drop every fragment with a wrong checksum and all that follows it in its block."""
    view, crc32 = memoryview(data), zlib.crc32
    spans = zip((found.starts - 1).tolist(), found.ends.tolist(), strict=True)
    actual = np.fromiter((crc32(view[a:b]) for a, b in spans), np.uint32, found.starts.size)
    stored = np.zeros(actual.size, np.uint32)
    for byte in range(4):
        stored |= raw[found.starts - HEADER + byte].astype(np.uint32) << np.uint32(8 * byte)
    bad = np.flatnonzero(actual != stored)
    if not bad.size:
        return found
    blocks = found.starts // BLOCK
    bad_blocks, first = np.unique(blocks[bad], return_index=True)
    damage.checksums += (found.starts[bad[first]] - HEADER).tolist()
    after = np.full(found.starts.size, found.starts.size)  # index of the first bad fragment in the same block
    places = np.searchsorted(bad_blocks, blocks)
    inside = np.isin(blocks, bad_blocks)
    after[inside] = bad[first][places[inside]]
    keep = np.arange(found.starts.size) < after
    return _Fragments(found.starts[keep], found.ends[keep], found.types[keep])


def _concatenate(parts: list[_Fragments]) -> _Fragments:
    empty = np.zeros(0, np.int64)
    return _Fragments(
        np.concatenate([empty, *(part.starts for part in parts)]),
        np.concatenate([empty, *(part.ends for part in parts)]),
        np.concatenate([empty.astype(np.uint8), *(part.types for part in parts)]),
    )


def _join(data: bytes, found: _Fragments, torn: str, notes: list[str]) -> LogRecords:
    """Put records that were split at block ends together; a chain with a missing link is dropped."""
    starts, ends = found.starts, found.ends
    keep = found.types == FULL
    parts = np.flatnonzero(~keep)
    chain: list[bytes] = []
    joined: list[bytes] = []
    size, lost, last_end, last_index = len(data), 0, -1, -2
    spans = zip(parts.tolist(), starts[parts].tolist(), ends[parts].tolist(), strict=True)
    for (index, start, end), kind in zip(spans, found.types[parts].tolist(), strict=True):
        linked = bool(chain) and index == last_index + 1 and _adjacent(last_end, start - HEADER)
        last_end, last_index = end, index
        if chain and (kind == FIRST or not linked):
            chain, lost = [], lost + 1
        if kind != FIRST and not linked:
            continue
        chain.append(data[start:end])
        if kind == LAST:
            joined.append(b"".join(chain))
            chain = []
            starts[index], ends[index], keep[index] = size, size + len(joined[-1]), True
            size += len(joined[-1])
    if chain and last_index < starts.size - 1:
        lost += 1
    elif chain and not torn:
        torn = f"byte {last_end}: torn last record dropped (its next part is missing)"
    if lost:
        notes.append(f"{lost} record(s) dropped: a part of each is missing")
    keep &= ends > starts
    return LogRecords(data, b"".join(joined), starts[keep], ends[keep], (*notes, torn) if torn else tuple(notes))


def _adjacent(end: int, header: int) -> bool:
    """Whether nothing but block padding lies between two fragments."""
    return header == end or (header % BLOCK == 0 and 0 < header - end < HEADER)


def _hull(starts: Ints, ends: Ints) -> tuple[int, int]:
    return (int(starts[0]), int(ends[-1])) if starts.size else (0, 0)


def _notes(places: list[int], what: str) -> Iterator[str]:
    places = sorted(places)
    for at in places[:MAX_NOTES]:
        yield f"byte {at}: {what}; skipped to the next block at byte {at - at % BLOCK + BLOCK}"
    if len(places) > MAX_NOTES:
        yield f"{what} in {len(places) - MAX_NOTES} more places"
