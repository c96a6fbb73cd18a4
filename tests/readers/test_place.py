"""A look at a run's files never leaves the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.model.errors import UsageError
from rlclinic.readers import place, tree
from rlclinic.readers.discover import find
from rlclinic.readers.place import importance, scan


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


def test_of_very_many_files_those_that_tell_of_the_run_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "MAX_FILES", 9)
    wanted = {
        "config.yaml",
        "progress.csv",
        "z/0.monitor.csv",
        "z/events.out.tfevents.1700000000.host",
        "z/run-abc.wandb",
        "z/y/model.zip",
        "z/hparams.json",
        "metrics/reward",
        "zz/train.log",
    }
    others = [f"{folder}/{number:03}.{ending}" for folder in ("a", "zz/a", "b/c/d") for number in range(30)
              for ending in ("png", "py", "ckpt", "json")]  # fmt: skip
    for name in (*wanted, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = scan(tmp_path)
    assert {entry.relative for entry in found.entries} == wanted
    assert found.notes == (f"only 9 files were looked at; {len(others)} were passed over",)


def test_data_is_looked_at_last() -> None:
    names = ["deep/down/here/progress.csv", "x.json", "reward", "notes.rst", "a.py", "b.png", "c.ckpt"]
    assert sorted(set(names), key=importance) == ["deep/down/here/progress.csv", "reward", "x.json", *names[3:]]


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


def test_a_table_among_very_many_other_files_makes_a_run(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number}.png").write_text("")
    (tmp_path / "zz.csv").write_text("step,reward\n" + "".join(f"{step},1.0\n" for step in range(20)))
    assert [ref.reader for ref in find(tmp_path)] == ["tables"]


def test_first_prefers_the_file_nearest_to_the_root(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "config.json").write_text("{}")
    (tmp_path / "a" / "config.json").write_text("{}")
    found = scan(tmp_path).first("config.json")
    assert found is not None
    assert found.relative == "a/config.json"


def test_a_run_beside_more_data_than_is_searched_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "run" / "data").mkdir(parents=True)
    for number in range(30):
        (tmp_path / "run" / "data" / f"{number}.bin").touch()
    with pytest.raises(UsageError, match="too many to search"):
        find(tmp_path, most=20)
    (tmp_path / "run" / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n0,1\n100,2\n")
    assert [ref.path for ref in find(tmp_path / "run", most=20)] == [tmp_path / "run"]
