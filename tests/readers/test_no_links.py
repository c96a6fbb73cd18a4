"""Links are followed once, when a path is looked up, and never when a file is opened."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from collections.abc import Callable
from contextvars import Context
from pathlib import Path

import pytest

import rlclinic
from rlclinic.model.errors import RunReadError
from rlclinic.readers import no_links
from rlclinic.readers.discover import RunRef, find
from rlclinic.readers.no_links import confined, listing, open_file, read_file, real, status
from rlclinic.readers.open import read, read_ref
from rlclinic.readers.place import scan
from rlclinic.readers.sources.trackio import is_trackio, members
from rlclinic.readers.tree import walk
from rlclinic.store import listing as store_listing
from rlclinic.store.index import RunIndex

TABLE = "step,reward,loss\n" + "".join(f"{step},{step / 10},0.5\n" for step in range(50))
SECRET = TABLE.replace("loss", "secret")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two tables; beside its root the same with a secret."""
    for top, text in (("root", TABLE), ("outside", SECRET)):
        folder = tmp_path / top / "run" / "sub"
        folder.mkdir(parents=True)
        (folder / "progress.csv").write_text(text)
        (folder.parent / "progress.csv").write_text(text)
    return tmp_path / "root" / "run"


def swap(folder: Path) -> None:
    """Put a link to its counterpart outside where a folder was."""
    top = next(parent for parent in folder.parents if parent.name == "root")
    outside = top.parent / "outside" / folder.relative_to(top)
    folder.rename(top.parent / "aside")
    folder.symlink_to(outside)


def test_a_folder_that_became_a_link_after_the_scan_is_not_read(run: Path) -> None:
    place = scan(run)
    swap(run / "sub")
    own, below = place.match("*.csv")
    assert own.read() == TABLE.encode()
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        below.read()


def test_a_file_that_became_a_link_after_the_scan_is_not_read(run: Path) -> None:
    (entry,) = (entry for entry in scan(run).entries if entry.relative == "progress.csv")
    (run / "progress.csv").unlink()
    (run / "progress.csv").symlink_to(run.parents[1] / "outside" / "run" / "progress.csv")
    with pytest.raises(OSError, match="symbolic links"), entry.open():
        pass


def test_a_run_that_became_a_link_after_it_was_found_is_not_read(run: Path) -> None:
    (ref,) = (ref for ref in find(run.parent) if ref.path == run)
    swap(run)
    with pytest.raises(RunReadError):
        read_ref(ref)


def test_a_run_that_is_a_link_out_of_the_root_is_read_for_the_user_who_names_it_and_not_when_confined(
    run: Path,
) -> None:
    swap(run)
    assert "secret" in read(run / "progress.csv").series
    with confined(run.parent), pytest.raises(RunReadError, match="out of the root"):
        read(run / "progress.csv")
    with confined(run.parent), pytest.raises(RunReadError, match="out of the root"):
        read(run)


def test_a_link_inside_the_root_is_read_when_confined(run: Path) -> None:
    (run.parent / "@last").symlink_to(run)
    with confined(run.parent):
        assert "loss" in read(run.parent / "@last" / "sub").series


def test_confinement_ends_and_nests(run: Path) -> None:
    with confined(run.parent):
        with confined(run), pytest.raises(PermissionError):
            real(run.parent)
        assert real(run.parent) == str(run.parent)
    assert real(run.parents[1]) == str(run.parents[1])


def test_a_root_whose_name_another_folder_begins_with_does_not_hold_that_folder(tmp_path: Path) -> None:
    (tmp_path / "root-2").mkdir()
    with confined(tmp_path / "root"), pytest.raises(PermissionError):
        real(tmp_path / "root-2")
    with confined(Path("/")):
        assert real(tmp_path) == str(tmp_path)


class Pool:
    """Worker processes, which know nothing of what the parent has set."""

    def __init__(self, _workers: int, initializer: Callable[..., None], initargs: tuple[object, ...]) -> None:
        self.fresh = Context()
        self.fresh.run(initializer, *initargs)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, function: Callable[..., object], items: list[RunRef], **_: object) -> list[object]:
        return [self.fresh.run(function, item) for item in items]


def test_processes_that_read_runs_are_confined_too(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swap(run)
    monkeypatch.setattr(store_listing, "POOL_FROM", 1)
    monkeypatch.setattr(store_listing, "find", lambda _: [RunRef(run, "tables")])
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", Pool)
    index = RunIndex(run.parents[1] / "index.sqlite")
    with confined(run.parent):
        assert "out of the root" in store_listing.list_runs(run.parent, index=index).errors[0]["message"]
    assert store_listing.list_runs(run.parent, index=index).errors == ()


def test_a_link_to_a_folder_is_neither_listed_nor_measured(run: Path) -> None:
    swap(run / "sub")
    for look in (status, open_file):
        with pytest.raises(OSError, match="symbolic links"):
            look(str(run / "sub"))
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"), listing(str(run / "sub")):
        pass
    assert sorted(walk(run).folders) == []


def test_a_pipe_does_not_wait_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "metrics.csv")
    with pytest.raises(OSError, match="not a regular file"):
        read_file(tmp_path / "metrics.csv", 10)
    assert scan(tmp_path).entries == ()
    assert walk(tmp_path).files == {}


def test_a_folder_that_may_only_be_passed_through_is_passed_through(run: Path) -> None:
    run.chmod(0o311)
    try:
        assert read_file(run / "sub" / "progress.csv", 1 << 20) == TABLE.encode()
    finally:
        run.chmod(0o755)


def test_a_file_larger_than_the_limit_is_an_error_rather_than_cut(run: Path) -> None:
    with pytest.raises(OSError, match="larger than") as caught:
        read_file(run / "progress.csv", 10)
    assert caught.value.errno == errno.EFBIG


def test_no_handle_stays_open(run: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        read(run / "sub")
        with pytest.raises(OSError, match="No such file"):
            open_file(str(run / "sub" / "missing" / "x"))
        with pytest.raises(OSError, match="a directory"):
            open_file(str(run))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_without_handles_of_folders_a_link_is_still_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, which neither opens folders nor knows O_NOFOLLOW."""
    monkeypatch.setattr(no_links, "_PASS", 0)
    monkeypatch.setattr(no_links, "_LISTS_HANDLES", False)
    place = scan(run)
    assert [entry.read() for entry in place.entries] == [TABLE.encode()] * 2
    swap(run / "sub")
    with pytest.raises(OSError, match="symbolic links"):
        place.entries[1].read()
    with pytest.raises(OSError, match="symbolic links"), listing(str(run / "sub")):
        pass


def test_a_database_is_read_from_memory_with_its_log_of_changes_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE metrics (run_name TEXT, timestamp TEXT, step INTEGER, metrics TEXT)")
    rows = [
        (f"run-{row % 2}", "2026-01-01", row, '{"reward": 1.0, "padding": "' + "x" * 900 + '"}') for row in range(900)
    ]
    database.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?)", rows)
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (entry,) = scan(tmp_path).match("*.db")
    before = sorted(tmp_path.iterdir())
    # Larger than the pages that are looked at first.
    assert entry.size > 512 << 10
    assert is_trackio(entry)
    assert members(entry) == ["run-0", "run-1"]
    assert sorted(tmp_path.iterdir()) == before
    database.close()


# What opens a file or lists a folder by name; `entry.open()` and reading from memory do not.
BY_NAME = re.compile(r"(?<![\w.])(?<!def )open\(|\.open\(\"|os\.open\(|read_text\(|read_bytes\(|scandir\(|fromfile\(")


@pytest.mark.parametrize("part", ["readers", "apps/mcp"])
def test_nothing_else_opens_files_of_a_run_by_name(part: str) -> None:
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((Path(rlclinic.__file__).parent / part).rglob("*.py"))
        if path.name != "no_links.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        # Tables of the package itself, what the system tells of processes, and what is written rather than read.
        if BY_NAME.search(line) and not any(word in line for word in ("joinpath(", '"/proc/', '"wb"', "O_NOFOLLOW"))
    ]
    assert found == []
