"""A look at a run's files never leaves the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.readers import place, tree
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
    assert found.notes == ("only 3 files were looked at; 2 were passed over",)


def test_a_folder_without_end_is_listed_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_LISTED", 10)
    for number in range(30):
        (tmp_path / f"{number}.txt").write_text("")
    found = scan(tmp_path)
    assert len(found.entries) == 10
    assert found.notes == (".: more than 10 files, the others are not listed",)


def test_very_many_broken_links_are_counted_rather_than_told(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number:02}").symlink_to("nowhere")
    notes = scan(tmp_path).notes
    assert notes[0] == "00: broken link, ignored"
    assert notes[-1] == "and 30 more links and folders that were not followed"
    assert len(notes) == 21


def test_first_prefers_the_file_nearest_to_the_root(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "config.json").write_text("{}")
    (tmp_path / "a" / "config.json").write_text("{}")
    found = scan(tmp_path).first("config.json")
    assert found is not None
    assert found.relative == "a/config.json"
