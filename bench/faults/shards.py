"""Recorded runs in append-only shards: each record is one run, its table stored column by column and compressed.

A record is `length, checksum, payload`; a torn tail (a killed recorder) is cut off when the next record is appended.
Numbers keep six significant digits, counters all of theirs: what a diagnosis reads, and a third of the bytes.
"""

from __future__ import annotations

import json
import lzma
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("corpus")
MOST = 4 << 20
"""Bytes after which a new shard begins."""
DIGITS = 6
_HEAD = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Record:
    """One recorded run, with everything that is needed to make it again."""

    name: str
    """Of the entry of the plan."""
    key: str
    """Of what was asked for: another one means that the tables have changed since."""
    recipe: Mapping[str, Any]
    """As trained, faulty wrappers included: the config that a diagnosis sees is `files` or made from it."""
    edits: tuple[Mapping[str, str], ...]
    versions: Mapping[str, str]
    seconds: float
    """CPU time of the training process."""
    truth: Mapping[str, Any]
    """True returns by share of the budget: `evaluation` and `training`."""
    status: Mapping[str, Any]
    log: str
    columns: Mapping[str, str] = field(default_factory=dict)
    """Cells joined by commas, as metrics.csv has them."""
    files: Mapping[str, str] = field(default_factory=dict)
    """For other layouts: path -> content in base64."""


def encode(record: Record) -> bytes:
    """A record as bytes."""
    text = json.dumps(asdict(record), separators=(",", ":"), sort_keys=True)
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


def decode(payload: bytes) -> Record:
    """A record from its bytes."""
    raw = json.loads(lzma.decompress(payload))
    return Record(**{**raw, "edits": tuple(raw["edits"])})


def append(payload: bytes, folder: Path = FOLDER) -> Path:
    """Add an encoded record to the last shard, or to a new one where that is full."""
    folder.mkdir(parents=True, exist_ok=True)
    shards = sorted(folder.glob("shard-*.rlc"))
    path = shards[-1] if shards else folder / "shard-0001.rlc"
    if path.exists() and path.stat().st_size > MOST:
        path = folder / f"shard-{int(path.stem.rpartition('-')[2]) + 1:04d}.rlc"
    whole = sum(_HEAD.size + len(part) for part in _payloads(path)) if path.exists() else 0
    with open(path, "ab") as file:
        file.truncate(whole)
        file.write(_HEAD.pack(len(payload), zlib.crc32(payload)) + payload)
    return path


def records(folder: Path = FOLDER) -> Iterator[Record]:
    """Every record in the order in which it was recorded."""
    for path in sorted(folder.glob("shard-*.rlc")):
        for payload in _payloads(path):
            yield decode(payload)


def latest(folder: Path = FOLDER) -> list[Record]:
    """The last record of every entry: one that was recorded again counts as it is now."""
    return list({record.name: record for record in records(folder)}.values())


def keys(folder: Path = FOLDER) -> dict[str, str]:
    """Key by name of the recorded entries."""
    return {record.name: record.key for record in records(folder)}


def cell(text: str) -> str:
    """A cell of metrics.csv with the digits that are kept."""
    if not text or text.lstrip("-").isdigit():
        return text
    return f"{float(text):.{DIGITS}g}"


def _payloads(path: Path) -> Iterator[bytes]:
    data = path.read_bytes()
    at = 0
    while at + _HEAD.size <= len(data):
        length, checksum = _HEAD.unpack_from(data, at)
        payload = data[at + _HEAD.size : at + _HEAD.size + length]
        if len(payload) != length or zlib.crc32(payload) != checksum:
            return
        yield payload
        at += _HEAD.size + length
