"""A W&B log of 100,000 rows of 30 metrics against wandb's protobuf modules and json.loads for every value.

The log is laid out as wandb 0.31 lays out its own: nested keys, in another order in every row. Needs `wandb`;
without it only our own time is printed. Everything is imported before the clock starts.
"""

from __future__ import annotations

import json
import random
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bench.rivals import best_times, load
from rlclinic.readers.formats.wandb.wandb_log import WandbLog, read_wandb_file
from rlclinic.readers.place import named

ROWS = 100_000
METRICS = 27  # beside _step, _runtime and _timestamp
POOL = 5_000  # different rows of metrics; they are written over and over with a step of their own
REPEATS = 2
GOALS = {"ratio": 3.0}  # times the speed of the straightforward way
BLOCK = 32_768
MAGIC = b":W&B\xe1\xbe\x00"
Rows = list[dict[str, object]]


def main() -> dict[str, float]:
    """Print both times and their ratio beside the goal."""
    wandb = load("wandb")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run-bench.wandb"
        path.write_bytes(_framed(_records()))
        size = path.stat().st_size / 1e6
        readers: dict[str, Callable[[], object]] = {"rlclinic": lambda: read_wandb_file(named(path))}
        if wandb is not None:
            from wandb.proto import wandb_internal_pb2

            readers["protobuf+json"] = lambda: _straightforward(path, wandb_internal_pb2.Record)
        times, results = best_times(readers, REPEATS)
    _check(results["rlclinic"], results.get("protobuf+json"))
    result = {f"{name}_s": seconds for name, seconds in times.items()}
    if wandb is not None:
        result["ratio"] = times["protobuf+json"] / times["rlclinic"]
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in times.items())
    ratio = f"; {result['ratio']:.1f} x as fast (goal {GOALS['ratio']})" if "ratio" in result else ""
    print(f"wandb     {size:.0f} MB: {seconds}{ratio}")
    return result


def _straightforward(path: Path, record: Callable[[], object]) -> Rows:
    """Every record through protobuf, every value through json."""
    rows: Rows = []
    for payload in _payloads(path.read_bytes()):
        message = record()
        message.ParseFromString(payload)  # type: ignore[attr-defined]
        if message.HasField("history"):  # type: ignore[attr-defined]
            items = message.history.item  # type: ignore[attr-defined]
            rows.append({item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items})
    return rows


def _payloads(data: bytes) -> Iterator[bytes]:
    pos, parts = len(MAGIC), []
    while pos + 7 <= len(data):
        room = BLOCK - pos % BLOCK
        if room < 7:
            pos += room
            continue
        crc, size, kind = struct.unpack_from("<IHB", data, pos)
        part = data[pos + 7 : pos + 7 + size]
        assert zlib.crc32(part, zlib.crc32(bytes([kind]))) == crc
        parts.append(part)
        pos += 7 + size
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []


def _records() -> Iterator[bytes]:
    """History records; the values are written as Go writes doubles."""
    rng = random.Random(0)
    keys = [_chunk(2, f"train/metric_{n}".encode()) for n in range(METRICS)]
    pool = [
        [_chunk(1, key + _chunk(16, _number(rng.gauss(0, 1) * 10 ** (n % 6 - 4)))) for n, key in enumerate(keys)]
        for _ in range(POOL)
    ]
    for step in range(ROWS):
        items = list(pool[step % POOL])
        for name, value in ((b"_step", step), (b"_runtime", step * 0.017), (b"_timestamp", 1.79e9 + step * 0.017)):
            items.append(_chunk(1, _chunk(2, name) + _chunk(16, _number(value))))
        rng.shuffle(items)
        yield b"\x08" + _varint(step + 1) + _chunk(2, b"".join(items) + _chunk(2, b"\x08" + _varint(step)))


def _number(value: float) -> bytes:
    text = repr(value)
    return (f"{value / 1e9!r}e+09" if abs(value) >= 1e9 else text).encode()


def _chunk(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _framed(records: Iterator[bytes]) -> bytes:
    out = bytearray(MAGIC)
    for data in records:
        first = True
        while first or data:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            part, data = data[: room - 7], data[room - 7 :]
            kind = (1 if first else 4) if not data else (2 if first else 3)
            out += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            first = False
    return bytes(out)


def _check(ours: WandbLog, theirs: Rows | None) -> None:
    assert ours.rows == ROWS
    assert not ours.problems
    assert len(ours.history) == METRICS + 3
    if theirs is None:
        return
    for name, column in ours.history.items():
        np.testing.assert_array_equal(column.values, np.array([row[name] for row in theirs], np.float64))


if __name__ == "__main__":
    main()
