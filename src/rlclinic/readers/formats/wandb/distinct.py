"""Which of many byte spans are equal: a hash table filled with numpy, every match checked byte for byte."""

from __future__ import annotations

import numpy as np

from rlclinic.readers.formats.wandb.protobuf_lanes import Bools, Buffer, Ints, Words

MAX_SPAN = 256  # bytes (below PAD); longer spans, and those that share a slot too often, are taken one by one
ROUNDS = 3
_SLOT_BITS = 16
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)  # odd, the golden ratio: Fibonacci hashing
_MASKS = np.array([2 ** (8 * n) - 1 for n in range(9)], np.uint64)  # the first n bytes of a word


def distinct(buffer: Buffer, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Number the spans by content: (number of each span, index of one span for each number)."""
    size = ends - starts
    leader = np.full(starts.size, -1, np.int64)
    pending = np.flatnonzero(size <= MAX_SPAN)
    columns = _columns(buffer.words, starts, size)
    code = _codes(columns, size)
    for turn in range(ROUNDS):
        if not pending.size:
            break
        pending = _settle(columns, code, size, leader, pending, shift=64 - _SLOT_BITS * (turn + 1))
    _one_by_one(buffer.raw, starts, ends, leader)
    chosen = np.zeros(starts.size, np.bool_)
    chosen[leader] = True
    number = np.cumsum(chosen) - 1
    return number[leader], np.flatnonzero(chosen)


def _columns(words: Words, starts: Ints, size: Ints) -> list[Words]:
    """The spans as columns of 8-byte words, zero behind their ends."""
    longest = min(int(size.max(initial=0)), MAX_SPAN)
    columns = []
    for at in range(0, longest, 8):
        left = np.minimum(np.maximum(size - at, 0), 8)
        columns.append(words[starts + at] & _MASKS[left])
    return columns


def _codes(columns: list[Words], size: Ints) -> Words:
    code = size.astype(np.uint64) * _MIX
    for column in columns:
        code ^= column
        code *= _MIX
        code ^= code >> np.uint64(32)
    return code * _MIX


def _settle(columns: list[Words], code: Words, size: Ints, leader: Ints, pending: Ints, *, shift: int) -> Ints:
    """Let one span per slot lead all that equal it; returns those that met a different span."""
    everything = pending.size == size.size
    mine = code if everything else code[pending]
    slot = (mine >> np.uint64(shift)).astype(np.int64) & ((1 << _SLOT_BITS) - 1)
    table = np.empty(1 << _SLOT_BITS, np.int64)
    table[slot] = pending
    head = table[slot]
    same: Bools = size[head] == (size if everything else size[pending])
    for column in columns:
        same &= column[head] == (column if everything else column[pending])
    leader[pending[same]] = head[same]
    return pending[~same]


def _one_by_one(raw: bytes, starts: Ints, ends: Ints, leader: Ints) -> None:
    left = np.flatnonzero(leader < 0)
    first: dict[bytes, int] = {}
    for index, start, end in zip(left.tolist(), starts[left].tolist(), ends[left].tolist(), strict=True):
        leader[index] = first.setdefault(raw[start:end], index)
