"""A tiny writer of TensorBoard event files, independent of the reader, for tests."""

from __future__ import annotations

import struct

POLYNOMIAL = 0x82F63B78


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def varint(value: int) -> bytes:
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def integer(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def single(number: int, value: float) -> bytes:
    return varint(number << 3 | 5) + struct.pack("<f", value)


def chunk(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def event(*values: bytes, step: int | None = None, wall_time: float | None = 1.0, extra: bytes = b"") -> bytes:
    """An event with a summary of these values."""
    parts = double(1, wall_time) if wall_time is not None else b""
    if step is not None:
        parts += integer(2, step)
    return parts + extra + (chunk(5, b"".join(chunk(1, value) for value in values)) if values else b"")


def simple(tag: str | bytes, value: float) -> bytes:
    raw = tag if isinstance(tag, bytes) else tag.encode()
    return chunk(1, raw) + single(2, value)


def metadata(plugin: str, content: bytes = b"") -> bytes:
    return chunk(9, chunk(1, chunk(1, plugin.encode()) + (chunk(2, content) if content else b"")))


def tensor(tag: str, dtype: int, numbers: bytes, *, dims: tuple[int, ...] = (), plugin: str = "scalars") -> bytes:
    shape = chunk(2, b"".join(chunk(2, integer(1, size)) for size in dims))
    described = metadata(plugin) if plugin else b""
    return chunk(1, tag.encode()) + chunk(8, integer(1, dtype) + shape + numbers) + described


def text(tag: str, *strings: str, plugin: str = "text") -> bytes:
    contents = b"".join(chunk(8, string.encode()) for string in strings)
    return tensor(tag, 7, contents, dims=(len(strings),), plugin=plugin)


def version() -> bytes:
    return record(double(1, 1.0) + chunk(3, b"brain.Event:2"))
