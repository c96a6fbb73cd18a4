"""Every file of a run is opened and parsed once per reading, and closed after it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import BinaryIO

import pytest

from rlclinic.readers import reading
from rlclinic.readers.discover import RunRef, find
from rlclinic.readers.formats.tensorboard import tfevents
from rlclinic.readers.no_links import open_file
from rlclinic.readers.open import read
from rlclinic.readers.reading import one_reading, opened
from rlclinic.readers.registry import SOURCES

RUNS = Path(__file__).parents[1] / "fixtures" / "runs"
RESUMED = RUNS / "sb3" / "ppo_cartpole_resumed"
TABLE = str(RUNS / "baselines" / "deepq" / "progress.csv")


@cache
def example(reader: str) -> str:
    """A run of a reader; of Stable-Baselines3 the one whose event files are looked into before they are read."""
    if reader == "sb3":
        return str(RESUMED)
    found = next((ref.name for ref in _found() if ref.reader == reader), "")
    return found or pytest.skip(f"no recorded run is read by {reader}")


@cache
def _found() -> list[RunRef]:
    return find(RUNS)


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, BinaryIO]]:
    """The files that are opened from here on, with their paths."""
    found: list[tuple[str, BinaryIO]] = []

    def spy(path: str) -> BinaryIO:
        found.append((path, open_file(path)))
        return found[-1][1]

    monkeypatch.setattr(reading, "open_file", spy)
    return found


@pytest.mark.parametrize("reader", [row.id for row in SOURCES])
def test_every_file_is_opened_once(reader: str, files: list[tuple[str, BinaryIO]]) -> None:
    run = example(reader)
    files.clear()
    read(run)
    opens = Counter(path for path, _ in files)
    assert opens
    assert {name: count for name, count in opens.items() if count > 1} == {}
    assert all(file.closed for _, file in files)


def test_event_files_that_are_grouped_before_they_are_read_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []
    real = tfevents.read_events
    monkeypatch.setattr(tfevents, "read_events", lambda data: parsed.append(data) or real(data))
    run = read(RESUMED)
    events = [file for file in run.provenance.files if file.kind == "tensorboard"]
    assert len(parsed) == len(events) == len(set(parsed)) > 1


def test_a_file_that_is_in_use_is_opened_again(files: list[tuple[str, BinaryIO]]) -> None:
    with one_reading():
        with opened(TABLE) as outer, opened(TABLE) as inner:
            assert inner.read(9) == outer.read(9), "each has a place of its own"
        with one_reading(), opened(TABLE) as again:
            assert again.tell() == 0
    assert len(files) == 2
    assert all(file.closed for _, file in files)


def test_only_so_many_files_stay_open(files: list[tuple[str, BinaryIO]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_OPEN", 1)
    with one_reading():
        for path in (TABLE, TABLE.replace("deepq", "ppo2")):
            with opened(path):
                pass
        assert [file.closed for _, file in files] == [False, True]


def test_outside_of_a_reading_nothing_is_kept(files: list[tuple[str, BinaryIO]]) -> None:
    for _ in range(2):
        with opened(TABLE):
            pass
    assert [file.closed for _, file in files] == [True, True]
