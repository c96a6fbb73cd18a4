"""CRC-32C (Castagnoli), the checksum of TFRecord files, for one buffer or for very many at once.

The checksum is linear over GF(2): a byte adds a term that depends only on its value and its distance from
the end, and the terms are combined with XOR. So the work can be spread over many records with one table
lookup per byte position, and two records that differ in a few bytes differ by the terms of these bytes.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]

_POLYNOMIAL = 0x82F63B78  # reversed Castagnoli polynomial
_MASK_DELTA = 0xA282EAD8  # TFRecord stores rotate(crc) + this, so that a crc of crcs stays useful
_ONES = 0xFFFFFFFF
_BLOCK = 64  # bytes per block of a long buffer: its tables (64 KiB) stay in the second-level cache
_BLOCK_LOG2 = 6
_CHUNK = 16384  # blocks handled at once: 1 MiB of input


def crc32c(data: bytes) -> int:
    """The checksum of one short buffer."""
    table = _first_table()
    crc = _ONES
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _ONES


def masked(crc: int) -> int:
    """The form in which TFRecord stores a checksum."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & _ONES


def unmasked(stored: U32) -> U32:
    """The checksums behind stored ones."""
    turned = stored - np.uint32(_MASK_DELTA)
    return (turned >> np.uint32(17)) | (turned << np.uint32(15))


def crc32c_spans(data: U8, starts: I64, lengths: I64) -> U32:
    """The checksum of every `data[start : start + length]`; spans may differ in length by any amount."""
    if data.size < _BLOCK:
        data = np.concatenate([np.zeros(_BLOCK, np.uint8), data])
        starts = starts + _BLOCK
    result = np.zeros(starts.size, np.uint32)
    blocks = np.maximum((lengths + _BLOCK - 1) // _BLOCK, 1)
    levels = np.ceil(np.log2(blocks)).astype(np.int64)
    # numpy.unique would import masked arrays.
    for level in sorted(set(levels.tolist())):
        members = np.flatnonzero(levels == level)
        batch = max(1, _CHUNK >> level)
        for first in range(0, members.size, batch):
            some = members[first : first + batch]
            result[some] = _raw_spans(data, starts[some], lengths[some], blocks[some], level)
    return result ^ _start_term(lengths) ^ np.uint32(_ONES)


def crc_terms(column: U8, distance: int) -> U32:
    """What each byte of a column adds to its record's checksum, `distance` bytes before the end."""
    terms: U32 = _tables(1 << distance.bit_length())[distance].take(column)
    return terms


def _raw_spans(data: U8, starts: I64, lengths: I64, blocks: I64, level: int) -> U32:
    """Checksums without start and end inversion, of spans of at most 2**level blocks each.

    Leading zeros leave such a checksum as it is, so every span is filled up at its front: first to whole
    blocks, then to 2**level of them. Neighbours are then merged pairwise.
    """
    ends = starts + lengths
    grid = np.zeros((starts.size, 1 << level), np.uint32)
    owner = np.repeat(np.arange(starts.size), blocks)
    from_end = np.repeat(np.cumsum(blocks), blocks) - np.arange(owner.size)
    for first in range(0, owner.size, _CHUNK):
        own = owner[first : first + _CHUNK]
        back = from_end[first : first + _CHUNK]
        rows = _block_rows(data, ends[own] - _BLOCK * back, starts[own])
        grid[own, grid.shape[1] - back] = _raw_rows(rows)
    for height in range(level):
        grid = _shifted(grid[:, 0::2], _BLOCK_LOG2 + height) ^ grid[:, 1::2]
    return grid[:, 0]


def _block_rows(data: U8, positions: I64, floors: I64) -> U8:
    """One block per position, with zeros in place of the bytes before the span's own start."""
    windows = np.ndarray((data.size - _BLOCK + 1,), f"V{_BLOCK}", data, strides=(1,))
    rows: U8 = windows[np.maximum(positions, 0)].view(np.uint8).reshape(-1, _BLOCK)
    for index in np.flatnonzero(positions < 0):
        rows[index, -positions[index] :] = data[: _BLOCK + positions[index]]
    partial = np.flatnonzero(positions < floors)
    missing = (floors - positions)[partial]
    rows[partial] *= np.arange(_BLOCK) >= missing[:, None]
    return rows


def _raw_rows(rows: U8) -> U32:
    result = np.zeros(rows.shape[0], np.uint32)
    tables = _tables(_BLOCK)
    for column in range(_BLOCK):
        result ^= tables[_BLOCK - 1 - column].take(rows[:, column])
    return result


def _start_term(lengths: I64) -> U32:
    """What the all-ones start value of the register has become after that many bytes."""
    distinct, back = np.unique(lengths, return_inverse=True)
    register = np.full(distinct.size, _ONES, np.uint32)
    for power in range(int(distinct.max(initial=0)).bit_length()):
        chosen = (distinct >> power) & 1 == 1
        register[chosen] = _shifted(register[chosen], power)
    return register[back]


def _shifted(register: U32, power: int) -> U32:
    """The register after 2**power further zero bytes."""
    table = _shift_table(power)
    result: U32 = table[0].take(register & np.uint32(0xFF))
    for byte in (1, 2, 3):
        result ^= table[byte].take((register >> np.uint32(8 * byte)) & np.uint32(0xFF))
    return result


@lru_cache(maxsize=64)
def _shift_table(power: int) -> U32:
    if power > 0:
        return _shifted(_shift_table(power - 1), power - 1)
    bytes_ = np.arange(256, dtype=np.uint32)
    registers = np.stack([bytes_ << np.uint32(8 * byte) for byte in range(4)])
    shifted: U32 = (registers >> np.uint32(8)) ^ _tables(1)[0][registers & np.uint32(0xFF)]
    return shifted


@lru_cache(maxsize=16)
def _tables(count: int) -> U32:
    """Row d holds the term of every byte value at d bytes before the end."""
    first = np.array(_first_table(), np.uint32)
    tables = np.empty((count, 256), np.uint32)
    tables[0] = first
    for distance in range(1, count):
        before = tables[distance - 1]
        tables[distance] = (before >> np.uint32(8)) ^ first[before & np.uint32(0xFF)]
    return tables


@lru_cache(maxsize=1)
def _first_table() -> tuple[int, ...]:
    return tuple(_table_entry(byte) for byte in range(256))


def _table_entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte
