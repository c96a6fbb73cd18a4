"""The TFRecord container: length, checksum of the length, data, checksum of the data, over and over.

Finding the records means following lengths from one to the next. That chain is followed for a whole window of
the file at once: every place whose bytes are a length with the right checksum is found by numpy, and where
each of them points at the next the run is accepted in one go. Only breaks of the chain are walked singly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.tensorboard.crc32c import crc32c, crc32c_spans, crc_terms, masked, unmasked

HEADER = 12  # bytes: length (8), masked checksum of the length (4)
FRAME = HEADER + 4  # bytes of a record beside its data
MAX_BATCH = 65536  # records, so that the number of a record within its batch fits in 16 bits
_WINDOW = 3 << 20  # bytes searched for headers at once: a batch of usual size, still in the cache
_SHORT = 65536  # bytes: lengths below this are found by search, longer records are stepped over one by one
_MAX_LOSSES = 100  # places where the chain may break before the rest is given up; bounds the time of the search
_MAX_TRIES = 64  # headers tried per search window when looking for the next intact record

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive whole records: number of the first (from 1), where their data starts, how long it is."""

    first: int
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


def batches(data: bytes, note: Note) -> Iterator[Batch]:
    """All whole records with a correct length checksum, in file order; what is lost is told to `note`.

    The checksum of the data is left to the reader of the records, which can check many at once.
    """
    position, first, losses, searched = 0, 1, 0, 0
    while position < len(data):
        if position >= searched:
            searched = position + _WINDOW
            headers = _headers(data, position, searched)
        batch, position = _follow(headers, position, first)
        if batch.starts.size:
            first += batch.starts.size
            yield batch
            continue
        length = header_length(data, position)
        if len(data) - position < HEADER or (length is not None and position + FRAME + length > len(data)):
            note(f"torn last record of {len(data) - position} bytes at byte {position} ignored")
            return
        if length is not None:
            yield Batch(first, np.array([position + HEADER]), np.array([length]))
            first, position = first + 1, position + FRAME + length
            continue
        losses += 1
        lost, position = position, _next_intact(data, position + 1) if losses <= _MAX_LOSSES else len(data)
        note(f"byte {lost}: record length does not match its checksum, {position - lost} bytes skipped")


def header_length(data: bytes, position: int) -> int | None:
    """The length of the record that starts here, or None if its checksum does not match."""
    header = data[position : position + HEADER]
    if len(header) < HEADER or masked(crc32c(header[:8])) != int.from_bytes(header[8:], "little"):
        return None
    return int.from_bytes(header[:8], "little")


def stored_checksums(data: bytes, positions: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The checksums written at these bytes, unmasked."""
    return unmasked(_view(data, "<u4")[positions])


@dataclass(frozen=True, slots=True)
class _Headers:
    """Places in a window with a correct header of a short, complete record, and where that record ends."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    breaks: NDArray[np.int64]  # indices of headers whose record does not end at the next header


def _headers(data: bytes, begin: int, end: int) -> _Headers:
    end = min(end, len(data) - FRAME + 1)
    if begin >= end:
        nothing = np.zeros(0, np.int64)
        return _Headers(nothing, nothing, nothing)
    window = _view(data, "<u8")[begin:end]
    found = np.flatnonzero(window < _SHORT)
    lengths = window[found]
    starts = found + begin
    ends = starts + lengths.astype(np.int64) + FRAME
    checksums = _view(data, "<u4")[starts + 8]
    correct = (_length_checksums()[lengths] == checksums) & (ends <= len(data))
    starts, ends = starts[correct], ends[correct]
    return _Headers(starts, ends, np.flatnonzero(ends[:-1] != starts[1:]))


def _follow(headers: _Headers, position: int, first: int) -> tuple[Batch, int]:
    """The run of records from `position` on for as long as each ends where a known header starts."""
    runs: list[slice] = []
    count = 0
    while count < MAX_BATCH:
        index = int(np.searchsorted(headers.starts, position))
        if index == headers.starts.size or headers.starts[index] != position:
            break
        after = int(np.searchsorted(headers.breaks, index))
        last = headers.breaks[after] if after < headers.breaks.size else headers.starts.size - 1
        stop = min(int(last) + 1, index + MAX_BATCH - count)
        runs.append(slice(index, stop))
        count += stop - index
        position = int(headers.ends[stop - 1])
    starts = _joined(headers.starts, runs)
    ends = _joined(headers.ends, runs)
    return Batch(first, starts + HEADER, ends - starts - FRAME), position


def _joined(array: NDArray[np.int64], runs: list[slice]) -> NDArray[np.int64]:
    return np.concatenate([array[run] for run in runs]) if runs else array[:0]


def _next_intact(data: bytes, position: int) -> int:
    """Where the next record starts of which both checksums match, or the end of the file."""
    buffer = np.frombuffer(data, np.uint8)
    while position < len(data):
        end = min(position + _WINDOW, len(data))
        headers = _headers(data, position, end)
        starts = headers.starts[:_MAX_TRIES] + HEADER
        stops = headers.ends[:_MAX_TRIES] - 4
        intact = crc32c_spans(buffer, starts, stops - starts) == stored_checksums(data, stops)
        if intact.any():
            return int(starts[intact.argmax()]) - HEADER
        position = end
    return len(data)


def _view(data: bytes, dtype: str) -> NDArray[np.unsignedinteger]:
    """Element i of the view is the number that starts at byte i."""
    kind = np.dtype(dtype)
    return np.ndarray((max(len(data) - kind.itemsize + 1, 0),), kind, data, strides=(1,))


@lru_cache(maxsize=1)
def _length_checksums() -> NDArray[np.uint32]:
    """The stored checksum of every length below _SHORT."""
    lengths = np.arange(_SHORT)
    crcs = np.uint32(crc32c(bytes(8))) ^ crc_terms((lengths & 0xFF).astype(np.uint8), 7)
    crcs ^= crc_terms((lengths >> 8).astype(np.uint8), 6)
    turned: NDArray[np.uint32] = (crcs >> np.uint32(15)) | (crcs << np.uint32(17))
    return turned + np.uint32(masked(0))
