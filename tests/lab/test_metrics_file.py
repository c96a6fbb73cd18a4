"""metrics.csv: whole at every moment, whatever happens to the process or the disk."""

from __future__ import annotations

import csv
import errno
import math
import os
from pathlib import Path

import pytest

from rlclinic.lab.metrics_file import STEPS, MetricsFile


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def row(epoch: int, steps: float | None = None, **values: float) -> dict[str, float]:
    own = {"time": 1.5, "total_timesteps": 8.0, "epoch": epoch, **values}
    return own if steps is None else {**own, STEPS: steps}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.csv"


def test_columns_grow_and_earlier_rows_stay(path: Path) -> None:
    table = MetricsFile(path)
    table.append(row(0, 10, b=0.1))
    table.append(row(1, 20, a=2, c=math.nan))
    table.append(row(2, 30, c=-math.inf))
    found = rows(path)
    assert list(found[0]) == ["time", "total_timesteps", "epoch", "a", "b", "c", STEPS]
    assert [line["b"] for line in found] == ["0.1", "", ""]
    assert [line["c"] for line in found] == ["", "nan", "-inf"]
    assert [line[STEPS] for line in found] == ["10", "20", "30"]


def test_every_row_is_on_the_disk_when_append_returns(path: Path) -> None:
    table = MetricsFile(path)
    for epoch in range(3):
        table.append(row(epoch, epoch))
        assert len(rows(path)) == epoch + 1
        assert path.read_bytes().endswith(b"\r\n")


def test_a_torn_last_line_is_dropped_when_the_run_goes_on(path: Path) -> None:
    first = MetricsFile(path)
    first.append(row(0, 10))
    first.close()
    with open(path, "ab") as file:
        file.write(b"1.5,8,1,2")
    again = MetricsFile(path)
    assert again.last_epoch() == 0
    again.append(row(1, 20))
    assert [line[STEPS] for line in rows(path)] == ["10", "20"]


def test_rows_that_will_be_taken_again_are_moved_aside(path: Path) -> None:
    table = MetricsFile(path)
    table.append(row(0, 10))
    table.append(row(0, None, val=1.0))
    table.append(row(1, 20))
    table.append(row(2, 30))
    assert table.cut_after(20) == 1
    table.append(row(2, 30, new=5.0))
    assert [line["epoch"] for line in rows(path)] == ["0", "0", "1", "2"]
    assert [line[STEPS] for line in rows(path.with_name("metrics.cut.csv"))] == ["30"]


def test_a_full_disk_leaves_no_half_row(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = MetricsFile(path)
    table.append(row(0, 10))
    before = path.read_bytes()
    real = os.write

    def half(file: int, data: bytes) -> int:
        if len(data) > 5:
            return real(file, data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    def full_after_half(file: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        return half(file, data)

    monkeypatch.setattr(os, "write", full_after_half)
    with pytest.raises(OSError, match="full"):
        table.append(row(1, 20))
    assert path.read_bytes() == before


def test_numbers_read_back_exactly(path: Path) -> None:
    values = [0.1 + 0.2, 1e-300, 123456789.123, 3.0, -0.0]
    table = MetricsFile(path)
    for epoch, value in enumerate(values):
        table.append(row(epoch, epoch, x=value))
    assert [float(line["x"]) for line in rows(path)] == values
