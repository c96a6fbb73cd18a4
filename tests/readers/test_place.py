"""A look at a run's files never leaves the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.readers import place
from rlclinic.readers.place import scan


def test_a_link_out_of_the_run_is_not_followed_and_is_noted(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    run = tmp_path / "run"
    run.mkdir()
    (run / "metrics.csv").symlink_to(secret)
    found = scan(run)
    assert found.entries == ()
    assert found.notes == ("metrics.csv: link out of the run, not followed",)


def test_a_link_inside_the_run_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    assert [entry.relative for entry in scan(tmp_path).entries] == ["a.csv", "b.csv"]


def test_loops_of_links_end(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    found = scan(tmp_path)
    assert found.entries == ()
    assert sorted(found.notes) == ["one: broken link, ignored", "two: broken link, ignored"]


def test_a_folder_of_very_many_files_is_cut_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "MAX_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("")
    found = scan(tmp_path)
    assert len(found.entries) == 3
    assert found.notes == ("only the first 3 files were looked at",)


def test_first_prefers_the_file_nearest_to_the_root(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "config.json").write_text("{}")
    (tmp_path / "a" / "config.json").write_text("{}")
    found = scan(tmp_path).first("config.json")
    assert found is not None
    assert found.relative == "a/config.json"
