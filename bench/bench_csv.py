"""A CSV of 1M rows and 30 columns against pandas and polars, and 20,000 rows of it without polars.

Needs `pandas` and `polars`; what is missing is skipped. All libraries are imported before the clock starts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.rivals import best_times, load
from rlclinic.readers.formats.tables.csv_table import read_csv, read_csv_file
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.place import named

ROWS, COLUMNS = 1_000_000, 30
POOL = 20_000  # different rows; they are written over and over
REPEATS = 3
GOALS = {"ratio": 1.0, "plain": 20.0}  # times pandas' speed; MB/s without polars


def main() -> dict[str, float]:
    """Print the times and the ratio to pandas beside the goals."""
    pandas, polars = load("pandas"), load("polars")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "progress.csv"
        small = _write(path)
        size = path.stat().st_size / 1e6
        readers: dict[str, Callable[[], object]] = {"rlclinic": lambda: read_csv_file(named(path))}
        if pandas is not None:
            readers["pandas"] = lambda: pandas.read_csv(path)
        if polars is not None:
            readers["polars"] = lambda: polars.read_csv(path)
        times, frames = best_times(readers, REPEATS)
    plain, tables = best_times({"plain": lambda: read_csv(small)}, REPEATS)
    _check(frames["rlclinic"], tables["plain"], frames)
    result = {f"{name}_s": seconds for name, seconds in times.items()}
    result["plain_mb_s"] = len(small) / 1e6 / plain["plain"]
    if pandas is not None:
        result["ratio"] = times["pandas"] / times["rlclinic"]
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in times.items())
    ratio = f"; {result['ratio']:.2f} x pandas (goal {GOALS['ratio']})" if "ratio" in result else ""
    without = f"without polars {result['plain_mb_s']:.0f} MB/s (goal {GOALS['plain']:.0f})"
    print(f"csv       {size:.0f} MB: {seconds}{ratio}; {without}")
    return result


def _write(path: Path) -> bytes:
    """Write the file; returns its first rows."""
    values = np.random.default_rng(0).normal(size=(POOL, COLUMNS)).tolist()
    header = ",".join(f"train/metric_{index}" for index in range(COLUMNS)) + "\n"
    pool = "".join(",".join(map(repr, row)) + "\n" for row in values).encode()
    with path.open("wb") as file:
        file.write(header.encode())
        for _ in range(ROWS // POOL):
            file.write(pool)
    return header.encode() + pool


def _check(ours: Table, plain: Table, frames: dict[str, Table]) -> None:
    """The same numbers from all; pandas rounds some of them differently in the last digit."""
    assert ours.rows == ROWS
    assert not ours.problems
    for name in ours.columns:
        np.testing.assert_array_equal(ours.numbers[name][:POOL], plain.numbers[name])
        for rival, tolerance in (("pandas", 1e-14), ("polars", 0.0)):
            if rival in frames:
                theirs = frames[rival][name].to_numpy()  # type: ignore[index]
                np.testing.assert_allclose(ours.numbers[name], theirs, rtol=tolerance)


if __name__ == "__main__":
    main()
