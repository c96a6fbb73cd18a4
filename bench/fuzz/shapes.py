"""Mutations that keep the frame of a binary format whole: checksums, lengths, members."""

from __future__ import annotations

import io
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from random import Random

import numpy as np

from bench.fuzz.mutate import EXTREMES, VALUES, mutate_bytes, mutate_text
from rlclinic.readers.formats.protobuf import BYTES, FIXED32, FIXED64, VARINT, Field, WireError, fields
from rlclinic.readers.formats.tensorboard.crc32c import crc32c, masked

FLOATS = (0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, 1e18, float("inf"), float("-inf"), float("nan"), 1e-30, 1.7e12)
INTEGERS = (0, 1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 127, 128)
WANDB_HEAD, BLOCK = 7, 32_768
DTYPES = ("f8", "f4", "i8", "U5", "S3", "c16", "?", "M8[s]", "m8[s]", "f2", "u8", "V3")
SHAPES = ((), (0,), (1,), (3,), (3, 0), (1, 3), (3, 2), (3, 1, 2), (0, 5), (2, 1))


def message(data: bytes, rng: Random, depth: int = 0) -> bytes:
    """One field of a protobuf message changed, at any depth."""
    try:
        found = list(fields(data, 0, len(data)))
    except WireError:
        found = []
    if not found or depth > 6 or not rng.randrange(20):
        return rng.choice((mutate_bytes, mutate_text))(data, rng)
    parts = [_encoded(field, data[field.start : field.end]) for field in found]
    at = rng.randrange(len(found))
    match rng.randrange(8):
        case 0:
            del parts[at]
        case 1:
            parts.insert(rng.randrange(len(parts)), parts[at])
        case 2:
            parts[at] = _encoded(
                found[at]._replace(number=rng.choice((1, 2, 3, 5, 9, 17, 2**29 - 1))),
                _value(found[at], data, rng, depth),
            )
        case _:
            parts[at] = _encoded(found[at], _value(found[at], data, rng, depth))
    return b"".join(parts)


def _value(field: Field, data: bytes, rng: Random, depth: int) -> bytes:
    if field.wire == VARINT:
        return varint(rng.choice(INTEGERS))
    if field.wire == FIXED64:
        return struct.pack("<d", rng.choice(FLOATS))
    if field.wire == FIXED32:
        return struct.pack("<f", np.float32(max(min(rng.choice(FLOATS), 3e38), -3e38)))
    return message(data[field.start : field.end], rng, depth + 1)


def _encoded(field: Field, value: bytes) -> bytes:
    head = varint(field.number << 3 | field.wire)
    return head + (varint(len(value)) if field.wire == BYTES else b"") + value


def varint(value: int) -> bytes:
    """An unsigned number as protobuf writes it."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def events(data: bytes, rng: Random) -> bytes:
    """Records of an event file: some left out, some changed, all with a right checksum."""
    return b"".join(map(_record, _changed([item[12:-4] for item in _records(data)], rng)))


def _records(data: bytes) -> list[bytes]:
    found, at = [], 0
    while at + 16 <= len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        found.append(data[at : at + size + 16])
        at += size + 16
    return found


def shortened(kind: str, data: bytes, rng: Random) -> bytes:
    """The first records of an event file or a W&B log and some from anywhere; other kinds are as they are."""
    if kind == "wandb":
        return _framed(data, _few(_wandb_records(data), rng))
    return b"".join(_few(_records(data), rng)) if kind == "events" else data


def _few(records: list[bytes], rng: Random) -> list[bytes]:
    start = rng.randrange(len(records))
    return records[:2] + records[start : start + rng.choice((3, 10, 30))]


def _record(payload: bytes) -> bytes:
    size = struct.pack("<Q", len(payload))
    return size + struct.pack("<I", masked(crc32c(size))) + payload + struct.pack("<I", masked(crc32c(payload)))


def wandb(data: bytes, rng: Random) -> bytes:
    """Records of a W&B log, changed and framed again."""
    return _framed(data, _changed(_wandb_records(data), rng))


def _wandb_records(data: bytes) -> list[bytes]:
    records, at, begun = [], WANDB_HEAD, b""
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:
            at += BLOCK - at % BLOCK
            continue
        size, kind = struct.unpack_from("<HB", data, at + 4)
        begun += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):
            records.append(begun)
            begun = b""
    return records


def _framed(data: bytes, records: list[bytes]) -> bytes:
    out = bytearray(data[:WANDB_HEAD])
    for payload in records:
        for first, part, last in _fragments(payload, len(out)):
            out += bytes(-len(out) % BLOCK if BLOCK - len(out) % BLOCK < 7 else 0)
            kind = bytes([1 if first and last else 2 if first else 4 if last else 3])
            out += struct.pack("<IH", zlib.crc32(kind + part), len(part)) + kind + part
    return bytes(out)


def _fragments(payload: bytes, at: int) -> list[tuple[bool, bytes, bool]]:
    parts, rest, room = [], payload, BLOCK - at % BLOCK - 7
    while True:
        room = BLOCK - 7 if room < 0 else room
        parts.append(rest[:room])
        rest, room = rest[room:], BLOCK - 7
        if not rest:
            return [(number == 0, part, number == len(parts) - 1) for number, part in enumerate(parts)]


def _changed(records: list[bytes], rng: Random) -> list[bytes]:
    if len(records) > 20 and rng.randrange(5):
        start = rng.randrange(len(records) - 10)
        records = records[:2] + records[start : start + rng.randrange(3, 40)]
    if not records:
        return records
    every = rng.choice((0, 0, 0, 2, 1))
    chosen = (
        set(range(0, len(records), every))
        if every
        else {rng.randrange(len(records)) for _ in range(rng.randrange(1, 4))}
    )
    return [message(item, rng) if number in chosen else item for number, item in enumerate(records)]


def archive(data: bytes, rng: Random) -> bytes:
    """Members of a zip or npz: other arrays, other text, other compression, lies in the directory."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        members = {item.filename: opened.read(item) for item in opened.infolist() if item.file_size < 100_000}
    name = rng.choice(list(members) or ["data"])
    members[name] = _array(rng) if name.endswith(".npy") and rng.randrange(2) else _text_of(members.get(name, b""), rng)
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for member, content in members.items():
            # Without a date of its own the archive would follow from the clock as well.
            made.writestr(zipfile.ZipInfo(member), content, method)
    whole = bytearray(out.getvalue())
    if not rng.randrange(3):
        at = whole.rfind(b"PK\x01\x02") + rng.choice((8, 10, 16, 20, 24, 28, 42))
        whole[at : at + 4] = rng.choice((b"\x00" * 4, b"\xff" * 4, b"\x10\x00\x00\x00", rng.randbytes(4)))
    return mutate_bytes(bytes(whole), rng) if not rng.randrange(3) else bytes(whole)


def _array(rng: Random) -> bytes:
    out, shape = io.BytesIO(), rng.choice(SHAPES)
    try:
        numbers = np.array(rng.choices(FLOATS, k=int(np.prod(shape))), dtype="f8").reshape(shape)
        with np.errstate(all="ignore"):
            np.save(out, numbers.astype(rng.choice(DTYPES)))
    except (TypeError, ValueError, OverflowError):
        np.save(out, np.zeros(shape, dtype=rng.choice(DTYPES)))
    return out.getvalue()


def _text_of(data: bytes, rng: Random) -> bytes:
    return rng.choice((mutate_text, mutate_text, mutate_bytes))(data, rng)


def sqlite(data: bytes, rng: Random) -> bytes:
    """A cell of a database changed, or the raw pages."""
    if not rng.randrange(3):
        return mutate_bytes(data, rng)
    base = sqlite3.connect(":memory:")
    try:
        base.deserialize(data)
        tables = [row[0] for row in base.execute("select name from sqlite_master where type = 'table'")]
        table = rng.choice(tables)
        column = rng.choice([row[1] for row in base.execute(f'pragma table_info("{table}")')])
        rows = base.execute(f'select "{column}" from "{table}" limit 50').fetchall()
        text = mutate_text(str(rng.choice(rows)[0]).encode(), rng).decode("utf-8", "replace")
        new = rng.choice((*EXTREMES, *VALUES, None, 1e308, 2**62, b"\xff", *[text] * 20))
        where = rng.choice(("", f" where rowid % {rng.randrange(1, 9)} = 0"))
        base.execute(f'update "{table}" set "{column}" = ?{where}', (new,))
        base.commit()
        return base.serialize()
    finally:
        base.close()


SHAPED: dict[str, Callable[[bytes, Random], bytes]] = {
    "events": events, "wandb": wandb, "npz": archive, "zip": archive, "sqlite": sqlite, "steps": archive,
    "observed": archive, "npy": lambda _, rng: _array(rng), "parquet": mutate_bytes,
}  # fmt: skip


def mutated(kind: str, data: bytes, other: bytes, rng: Random) -> bytes:
    """An input of a kind with one to four changes."""
    shaped = SHAPED.get(kind)
    for _ in range(1 + min(int(rng.expovariate(1.2)), 3)):
        if shaped is not None and rng.randrange(4):
            # What an earlier change has damaged cannot be taken apart any more.
            with suppress(Exception):
                data = shaped(data, rng)
        elif shaped is not None:
            data = mutate_bytes(data, rng, other)
        else:
            data = mutate_text(data, rng) if rng.randrange(8) else mutate_bytes(data, rng, other)
    return data
