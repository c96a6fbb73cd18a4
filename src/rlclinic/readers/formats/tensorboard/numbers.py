"""Numbers at known bytes of TensorBoard events: of one event, or of many that are laid out alike."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from rlclinic.readers.formats.protobuf import signed, varint
from rlclinic.readers.formats.tensorboard.layout import Slot

_CODES = {"f4": "<f", "f8": "<d", "f2": "<e", "i4": "<i", "i2": "<h", "i1": "<b", "i8": "<q"}
_CODES |= {"u1": "<B", "u2": "<H", "u4": "<I", "u8": "<Q"}
_LOW_BITS, _SHIFT = np.uint64(0x7F), np.uint64(7)


def read_integer(event: bytes, slot: Slot | None) -> int:
    """A signed 64-bit varint; 0 if it is absent, as protobuf leaves out zeros."""
    if slot is None:
        return 0
    return signed(varint(event, slot.start, slot.start + slot.size)[0])


def read_number(event: bytes, slot: Slot | None) -> float:
    """The number in a slot of one event; 0 if it is absent."""
    if slot is None:
        return 0.0
    raw = event[slot.start : slot.start + slot.size]
    if slot.varint:
        value = varint(raw, 0, len(raw))[0]
        if slot.kind not in ("f2", "bfloat16"):
            return float(_integer_of_kind(value, slot.kind))
        raw = (value & 0xFFFF).to_bytes(2, "little")
    if slot.kind == "bool":
        return float(raw != b"\0")
    if slot.kind == "bfloat16":
        raw, code = b"\0\0" + raw, "<f"
    else:
        code = _CODES[slot.kind]
    return float(struct.unpack(code, raw)[0])


def integer_column(rows: NDArray[np.uint8], slot: Slot | None) -> NDArray[np.int64]:
    """`read_integer` for every row; the slot counts from the start of the row."""
    if slot is None:
        return np.zeros(rows.shape[0], np.int64)
    return _varints(rows, slot).view(np.int64)


def number_column(rows: NDArray[np.uint8], slot: Slot | None) -> NDArray[np.float64]:
    """`read_number` for every row; the slot counts from the start of the row."""
    if slot is None:
        return np.zeros(rows.shape[0])
    if not slot.varint:
        raw = np.ascontiguousarray(rows[:, slot.start : slot.start + slot.size])
    elif slot.kind in ("f2", "bfloat16"):
        raw = _varints(rows, slot).astype("<u2").view(np.uint8).reshape(-1, 2)
    else:
        return _integers_of_kind(_varints(rows, slot), slot.kind)
    numbers: NDArray[np.generic]
    if slot.kind == "bool":
        numbers = raw[:, 0] != 0
    elif slot.kind == "bfloat16":
        numbers = (raw.view("<u2")[:, 0].astype("<u4") << np.uint32(16)).view("<f4")
    else:
        numbers = raw.view(f"<{slot.kind}")[:, 0]
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
        return numbers.astype(np.float64)


def _integer_of_kind(value: int, kind: str) -> int:
    if kind == "bool":
        return int(value != 0)
    if kind == "u8":
        return value
    return value & 0xFFFF_FFFF if kind == "u4" else signed(value)


def _integers_of_kind(values: NDArray[np.uint64], kind: str) -> NDArray[np.float64]:
    numbers: NDArray[np.generic] = values.view(np.int64)
    if kind == "bool":
        numbers = values != 0
    elif kind == "u8":
        numbers = values
    elif kind == "u4":
        numbers = values & np.uint64(0xFFFF_FFFF)
    return numbers.astype(np.float64)


def _varints(rows: NDArray[np.uint8], slot: Slot) -> NDArray[np.uint64]:
    values = np.zeros(rows.shape[0], np.uint64)
    for column in reversed(range(slot.start, slot.start + slot.size)):
        values <<= _SHIFT
        values |= rows[:, column] & _LOW_BITS
    return values
