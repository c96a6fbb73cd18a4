"""The index makes the second look instant and notices changed files."""

from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path

import pytest

from rlclinic.store.index import RunIndex
from rlclinic.store.listing import list_runs


@pytest.fixture
def root(tmp_path: Path, runs: Path) -> Path:
    folder = tmp_path / "runs"
    for name in ("ppo_cartpole", "dqn_cartpole"):
        shutil.copytree(runs / "sb3" / name, folder / name)
    return folder


def test_the_second_look_comes_from_the_index(root: Path, tmp_path: Path) -> None:
    index = RunIndex(tmp_path / "index.sqlite")
    first = list_runs(root, index=index)
    second = list_runs(root, index=index)
    assert (first.from_index, second.from_index) == (0, 2)
    assert second.summaries == first.summaries


def test_a_changed_file_is_read_again(root: Path, tmp_path: Path) -> None:
    index = RunIndex(tmp_path / "index.sqlite")
    before = list_runs(root, index=index)
    for table in root.glob("ppo_cartpole/*"):
        if table.name != "monitor.csv":
            table.unlink()
    after = list_runs(root, index=index)
    assert after.from_index == 1
    changed = {summary["id"]: summary["return"]["metric"] for summary in after.summaries}
    assert len(before.summaries) == len(changed) == 2


def test_an_index_that_cannot_be_written_costs_nothing_but_time(root: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    listing = list_runs(root, index=RunIndex(blocked / "index.sqlite"))
    assert len(listing.summaries) == 2
    assert listing.from_index == 0


def test_a_damaged_index_is_read_around(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    assert len(list_runs(root, index=RunIndex(path)).summaries) == 2


def test_several_processes_may_share_the_index(root: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        counts = pool.starmap(_count, [(root, tmp_path / "index.sqlite")] * 3)
    assert counts == [2, 2, 2]
    assert list_runs(root, index=RunIndex(tmp_path / "index.sqlite")).from_index == 2


def _count(root: Path, index: Path) -> int:
    return len(list_runs(root, index=RunIndex(index)).summaries)
