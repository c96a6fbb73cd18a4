"""A tiny writer of W&B transaction logs, independent of the reader, for tests."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence

MAGIC = b":W&B\xe1\xbe\x00"
BLOCK = 32_768
HISTORY, SUMMARY, CONFIG, STATS, TBRECORD, TELEMETRY, OUTPUT_RAW = 2, 3, 5, 7, 9, 11, 13
RUN, EXIT, FINAL, HEADER, FOOTER = 17, 18, 20, 21, 22
Path = str | Sequence[str]


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


def chunk(number: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def key(path: Path) -> bytes:
    """A plain key for a string, a nested key for a list."""
    return chunk(1, path) if isinstance(path, str) else b"".join(chunk(2, part) for part in path)


def item(path: Path, json: bytes | str) -> bytes:
    return key(path) + chunk(16, json)


def items(values: Mapping[str, str] | Iterable[tuple[Path, str]], *, field: int = 1) -> bytes:
    pairs = values.items() if isinstance(values, Mapping) else values
    return b"".join(chunk(field, item(path, json)) for path, json in pairs)


def record(kind: int, content: bytes, *, number: int = 1) -> bytes:
    return integer(1, number) + chunk(kind, content) + chunk(200, chunk(1, "stream"))


def history(values: Mapping[str, str] | Iterable[tuple[Path, str]]) -> bytes:
    return record(HISTORY, items(values))


def summary(values: Mapping[str, str] | Iterable[tuple[Path, str]]) -> bytes:
    return record(SUMMARY, items(values))


def output(line: str) -> bytes:
    return record(OUTPUT_RAW, integer(1, 1) + chunk(3, line))


def header(version: str = "0.31.0+abc") -> bytes:
    return record(HEADER, chunk(1, chunk(1, version)))


def fragment(kind: int, data: bytes) -> bytes:
    return struct.pack("<IHB", zlib.crc32(bytes([kind]) + data), len(data), kind) + data


def log(records: Iterable[bytes], *, magic: bytes = MAGIC) -> bytes:
    """Frame records as LevelDB does."""
    out = bytearray(magic)
    for data in records:
        first, rest = True, data
        while first or rest:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            part, rest = rest[: room - 7], rest[room - 7 :]
            kind = (1 if first else 4) if not rest else (2 if first else 3)
            out += fragment(kind, part)
            first = False
    return bytes(out)
