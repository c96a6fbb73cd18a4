"""JSON lines, 500k objects of 11 numbers, against polars, and 20,000 of them without polars.

Needs `polars`; without it only our own times are printed. It is imported before the clock starts.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.rivals import best_times, load
from rlclinic.readers.formats.tables.json_lines import read_json_lines, read_json_lines_file
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.place import named

LINES = 500_000
POOL = 20_000  # different lines; they are written over and over
METRICS = 8
REPEATS = 3
GOALS = {"ratio": 3.0}  # times polars' time


def main() -> dict[str, float]:
    """Print the times and the ratio to polars beside the goal."""
    polars = load("polars")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metrics.jsonl"
        small = _write(path)
        size = path.stat().st_size / 1e6
        readers: dict[str, Callable[[], object]] = {"rlclinic": lambda: read_json_lines_file(named(path))}
        if polars is not None:
            readers["polars"] = lambda: polars.read_ndjson(path)
        times, frames = best_times(readers, REPEATS)
    plain, tables = best_times({"plain": lambda: read_json_lines(small)}, REPEATS)
    _check(frames["rlclinic"], tables["plain"], frames)
    result = {f"{name}_s": seconds for name, seconds in times.items()}
    result["plain_mb_s"] = len(small) / 1e6 / plain["plain"]
    if polars is not None:
        result["ratio"] = times["rlclinic"] / times["polars"]
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in times.items())
    ratio = f"; {result['ratio']:.2f} x polars' time (goal {GOALS['ratio']})" if "ratio" in result else ""
    print(f"jsonl     {size:.0f} MB: {seconds}{ratio}; without polars {result['plain_mb_s']:.0f} MB/s")
    return result


def _write(path: Path) -> bytes:
    """Write the file; returns its first lines."""
    values = np.random.default_rng(0).normal(size=(POOL, METRICS + 2)).tolist()
    lines = []
    for step, (policy, value, *rest) in enumerate(values):
        row = {"step": step, "loss": {"policy": policy, "value": value}}
        lines.append(json.dumps(row | {f"metric_{index}": item for index, item in enumerate(rest)}))
    pool = ("\n".join(lines) + "\n").encode()
    with path.open("wb") as file:
        for _ in range(LINES // POOL):
            file.write(pool)
    return pool


def _check(ours: Table, plain: Table, frames: dict[str, Table]) -> None:
    """The same numbers from all."""
    assert ours.rows == LINES
    assert not ours.problems
    for name in ours.columns:
        np.testing.assert_array_equal(ours.numbers[name][:POOL], plain.numbers[name])
    if "polars" in frames:
        frame = frames["polars"].unnest("loss", separator="/")  # type: ignore[attr-defined]
        for name in ours.columns:
            np.testing.assert_array_equal(ours.numbers[name], frame[name].to_numpy())


if __name__ == "__main__":
    main()
