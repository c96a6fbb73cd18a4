"""A small, safe walker over the protobuf wire format: numbered fields of one message, no schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types; groups (3, 4) are refused
MAX_VARINT = 10  # bytes of a 64-bit varint
MAX_FIELD = (1 << 29) - 1


class WireError(ValueError):
    """The bytes are not a protobuf message."""


class Field(NamedTuple):
    """One field: its number, wire type, the span of its value, and the value itself if it is a varint."""

    number: int
    wire: int
    start: int
    end: int
    varint: int


def fields(data: bytes, start: int, end: int) -> Iterator[Field]:
    """Yield the fields in data[start:end] in order; raises WireError at the first one that is malformed."""
    pos = start
    while pos < end:
        tag, pos = varint(data, pos, end)
        number, wire, value = tag >> 3, tag & 7, 0
        if not 0 < number <= MAX_FIELD:
            raise WireError(f"field number {number}")
        if wire == VARINT:
            value, stop = varint(data, pos, end)
        elif wire == BYTES:
            size, pos = varint(data, pos, end)
            stop = pos + size
        elif wire in (FIXED64, FIXED32):
            stop = pos + (8 if wire == FIXED64 else 4)
        else:
            raise WireError(f"wire type {wire}")
        if stop > end:
            raise WireError("field longer than its message")
        yield Field(number, wire, pos, stop, value)
        pos = stop


def varint(data: bytes, pos: int, end: int) -> tuple[int, int]:
    """Decode an unsigned 64-bit varint: (value, position after it)."""
    value = 0
    for index, byte in enumerate(data[pos : min(end, pos + MAX_VARINT)]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, pos + index + 1
    raise WireError("unfinished varint")


def signed(value: int) -> int:
    """Read an unsigned 64-bit varint as the int32 or int64 it stands for."""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value: int) -> int:
    """Read an unsigned 64-bit varint as the sint64 it stands for."""
    return (value >> 1) ^ -(value & 1)


def text(data: bytes, field: Field) -> str:
    """The value of a string field; broken UTF-8 is replaced."""
    return data[field.start : field.end].decode("utf-8", "replace")
