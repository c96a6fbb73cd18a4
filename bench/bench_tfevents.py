"""One million scalars in an event file, both checksums verified, against TensorBoard's own reader.

Needs `tensorboard` for the comparison; without it only the times and the memory of rlclinic are printed.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rlclinic.readers.formats.tensorboard.crc32c import crc32c_spans, masked
from rlclinic.readers.formats.tensorboard.tfevents import EventFile, read_event_file
from rlclinic.readers.place import named

SCALARS = 1_000_000
TAGS = (
    *("rollout/ep_rew_mean", "rollout/ep_len_mean", "time/fps", "train/approx_kl", "train/clip_fraction"),
    *("train/clip_range", "train/entropy_loss", "train/explained_variance", "train/learning_rate", "train/loss"),
    *("train/policy_gradient_loss", "train/std", "train/value_loss", "eval/mean_reward", "eval/mean_ep_length"),
    *("grad/norm", "q/mean", "q/max", "advantage/std", "alpha"),
)
REPEATS = 3
GOALS = {"ratio": 20.0, "memory": 6.0}  # times TensorBoard's speed; resident bytes per byte of the file

_MEMORY = """
import re, sys
from pathlib import Path
from rlclinic.readers.formats.tensorboard.tfevents import read_event_file
from rlclinic.readers.place import named

def status(key):
    return int(re.search(key + r":\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

before = status("VmRSS")
events = read_event_file(named(Path(sys.argv[1])))
print(status("VmHWM") - before)
"""


def main() -> dict[str, float]:
    """Print seconds, the ratio and the memory beside their goals."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.out.tfevents.1700000000.bench"
        path.write_bytes(event_file(SCALARS))
        size = path.stat().st_size
        result = {"megabytes": size / 1e6, "seconds": _median_seconds(path), "memory": _memory(path) / size}
        if find_spec("tensorboard") is not None:
            result["tensorboard"] = _tensorboard_seconds(path, read_event_file(named(path)))
            result["ratio"] = result["tensorboard"] / result["seconds"]
    line = f"tfevents  {SCALARS} scalars, {result['megabytes']:.1f} MB: {result['seconds']:.2f} s"
    line += f", {result['memory']:.1f} x the file resident (goal {GOALS['memory']})"
    if "ratio" in result:
        line += f"; TensorBoard {result['tensorboard']:.1f} s, {result['ratio']:.0f} x faster (goal {GOALS['ratio']})"
    else:
        line += "; not compared: tensorboard is not installed"
    print(line)
    return result


def event_file(scalars: int) -> bytes:
    """An event file like one of a training run: every tag at every update."""
    rng = np.random.default_rng(0)
    times = 1.7e9 + np.cumsum(rng.random(scalars) * 1e-2)
    values = rng.normal(size=scalars).astype(np.float32)
    names = [_summary_head(tag.encode()) for tag in TAGS]
    events = [struct.pack("<Bd", 0x09, 1.7e9) + b"\x1a\x0dbrain.Event:2"]
    for index in range(scalars):
        number, place = divmod(index, len(TAGS))
        step = b"\x10" + _varint(64 * (number + 1))
        head = struct.pack("<Bd", 0x09, times[index]) + step
        events.append(head + names[place] + struct.pack("<f", values[index]))
    return _framed(events)


def _summary_head(tag: bytes) -> bytes:
    value = b"\x0a" + bytes([len(tag)]) + tag + b"\x15"
    return b"\x2a" + bytes([len(value) + 6]) + b"\x0a" + bytes([len(value) + 4]) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _framed(events: list[bytes]) -> bytes:
    lengths = np.array([len(event) for event in events])
    starts = np.cumsum(lengths) - lengths
    checksums = crc32c_spans(np.frombuffer(b"".join(events), np.uint8), starts, lengths).tolist()
    headers = {size: _header(size) for size in set(lengths.tolist())}
    parts: list[bytes] = []
    for event, crc in zip(events, checksums, strict=True):
        parts += (headers[len(event)], event, struct.pack("<I", masked(crc)))
    return b"".join(parts)


def _header(size: int) -> bytes:
    length = np.frombuffer(struct.pack("<Q", size), np.uint8)
    crc = int(crc32c_spans(length, np.array([0]), np.array([8]))[0])
    return length.tobytes() + struct.pack("<I", masked(crc))


def _median_seconds(path: Path) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        read_event_file(named(path))
        times.append(time.perf_counter() - start)
    return sorted(times)[REPEATS // 2]


def _memory(path: Path) -> int:
    """Growth of the peak of resident memory in a fresh process."""
    command = [sys.executable, "-c", _MEMORY, str(path)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _tensorboard_seconds(path: Path, ours: EventFile) -> float:
    module = import_module("tensorboard.backend.event_processing.event_accumulator")
    start = time.perf_counter()
    accumulator = module.EventAccumulator(str(path), size_guidance={"scalars": 0})
    accumulator.Reload()
    seconds = time.perf_counter() - start
    assert set(accumulator.Tags()["scalars"]) == set(ours.scalars) == set(TAGS)
    for tag, column in ours.scalars.items():
        theirs = accumulator.Scalars(tag)
        assert column.steps.tolist() == [point.step for point in theirs]
        assert column.wall_times.tolist() == [point.wall_time for point in theirs]
        assert column.values.tolist() == [point.value for point in theirs]
    return seconds


if __name__ == "__main__":
    main()
