"""A project's guidelines are named when they are there, and nothing beyond the project is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.prescriptions.guidelines import guidelines


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    root = home / "project"
    (root / ".git").mkdir(parents=True)
    (root / "runs" / "one").mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    return root


def test_the_files_of_the_project_are_named(project: Path) -> None:
    (project / "CLAUDE.md").write_text("rules", encoding="utf-8")
    (project / "AGENTS.md").write_text("rules", encoding="utf-8")
    named = guidelines(project / "runs" / "one")
    assert named == (str(project / "CLAUDE.md"), str(project / "AGENTS.md"))


def test_paths_below_the_working_directory_are_shown_from_there(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "AGENTS.md").write_text("rules", encoding="utf-8")
    monkeypatch.chdir(project)
    assert guidelines(Path("runs/one")) == ("AGENTS.md",)
    monkeypatch.chdir(project / "runs")
    assert guidelines(Path("one")) == (str(project / "AGENTS.md"),)


def test_files_above_the_repository_or_in_the_home_folder_are_not(project: Path) -> None:
    (project.parent / "CLAUDE.md").write_text("private", encoding="utf-8")
    (project.parent.parent / "AGENTS.md").write_text("private", encoding="utf-8")
    assert guidelines(project / "runs" / "one") == ()


def test_a_run_outside_of_a_project_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    (run.parent / "CONTRIBUTING.md").write_text("not a project", encoding="utf-8")
    assert guidelines(run) == ()


@pytest.mark.parametrize("path", ["wandb:team/project/run", "/does/not/exist", "a\x00b"])
def test_what_is_no_folder_has_none(path: str) -> None:
    assert guidelines(Path(path)) == ()
