"""The run folder and its status.json."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rlclinic import read
from rlclinic.lab import folder as folders
from rlclinic.lab.background import start, stop
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.folder import RunFolder, create_folder, open_folder
from rlclinic.lab.overview import run_overviews
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Status
from rlclinic.readers.process import process_start
from rlclinic.readers.state import is_alive, read_state, running_here
from rlclinic.store.processes import is_noted, note_process, noted
from tests.lab.environments import small

RECIPE = small("PPO")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_folder(tmp_path / "runs", RECIPE, {"n_actions": 2})


def test_a_new_folder_holds_its_recipe_and_last_points_to_it_relatively(folder: RunFolder) -> None:
    assert folder.recipe(RECIPE.trust) == RECIPE
    assert str((folder.path.parent / "@last").readlink()) == folder.id
    assert json.loads((folder.path / "config.json").read_text())["n_actions"] == 2


def test_runs_that_start_in_the_same_second_do_not_collide(tmp_path: Path) -> None:
    assert len({create_folder(tmp_path, RECIPE, {}).id for _ in range(5)}) == 5


def test_an_environment_s_name_cannot_lead_out_of_the_root(tmp_path: Path) -> None:
    found = create_folder(tmp_path / "runs", replace(RECIPE, environment="../../evil:Cls"), {})
    assert found.path.parent == tmp_path / "runs"
    assert found.path.resolve().is_relative_to(tmp_path / "runs")


def test_a_root_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="cannot be written") as caught:
        create_folder(tmp_path / "file" / "runs", RECIPE, {})
    assert "--root" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_full_disk_still_gets_its_status_written_from_the_reserve(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = folders.write_whole

    def full(path: Path, text: str) -> None:
        if (folder.path / ".reserve").exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, text)

    monkeypatch.setattr(folders, "write_whole", full)
    folder.set_state(running_here().end(Status.CRASHED, "the disk is full", 10, 1.0))
    found = folder.state()
    assert found is not None
    assert (found.state, found.reason) == ("crashed", "the disk is full")


def test_a_run_named_by_a_link_or_a_dot_keeps_its_own_id(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    root = folder.path.parent
    assert open_folder(root / "@last").id == folder.id
    monkeypatch.chdir(folder.path)
    assert open_folder(Path()).id == folder.id


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no config\.json"):
        open_folder(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": 3}', '{"other": 1}'])
def test_a_broken_status_file_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "status.json").write_text(text)
    assert read_state(tmp_path / "status.json") is None


def test_this_process_is_alive_and_one_that_ended_is_not() -> None:
    assert is_alive(running_here()) is True
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    started = process_start(child.pid)
    child.wait()
    assert is_alive(replace(running_here(), pid=child.pid, process_started=started)) is False


def test_another_process_with_the_same_number_is_not_the_run(folder: RunFolder) -> None:
    """A pid is used again; stopping the run must not stop a stranger."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as stranger:
        folder.set_state(replace(running_here(), pid=stranger.pid, process_started="1"))
        assert "killed" in stop(folder, timeout=1)
        assert stranger.poll() is None
        stranger.kill()
    found = folder.state()
    assert found is not None
    assert found.state == "interrupted"


def test_a_process_that_a_foreign_status_file_names_is_sent_nothing(folder: RunFolder) -> None:
    """Number and start are true, as anybody can look them up; that the process trains this folder is not."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as stranger:
        folder.set_state(replace(running_here(), pid=stranger.pid, process_started=process_start(stranger.pid)))
        with pytest.raises(TrainingError, match="no training of this folder"):
            stop(folder, timeout=1)
        note_process(stranger.pid, folder.path.parent)
        with pytest.raises(TrainingError, match="no training of this folder"):
            stop(folder, timeout=1)
        assert stranger.poll() is None
        note_process(stranger.pid, folder.path)
        assert "stopped" in stop(folder, timeout=10)
        assert stranger.wait(10) == -signal.SIGTERM


def test_a_background_run_writes_its_log_through_no_link(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "diary").write_text("mine")
    (folder.path / "run.log").symlink_to(tmp_path / "diary")
    with pytest.raises(UsageError, match="a link"):
        start(folder, [sys.executable, "-c", "print('theirs')"])
    assert (tmp_path / "diary").read_text() == "mine"


def test_notes_of_processes_that_are_gone_are_cleared(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    first = note_process(child.pid, tmp_path)
    assert first is not None
    assert is_noted(child.pid, process_start(child.pid), tmp_path)
    child.communicate()
    with noted(tmp_path):
        assert not first.exists()
        assert is_noted(os.getpid(), process_start(os.getpid()), tmp_path)
    assert not list(first.parent.iterdir())


def test_a_user_without_a_home_trains_and_stops_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    with noted(tmp_path):
        assert not is_noted(os.getpid(), process_start(os.getpid()), tmp_path)


def test_a_run_on_another_machine_is_not_judged(folder: RunFolder) -> None:
    state = replace(running_here(), host="elsewhere")
    assert is_alive(state) is None
    folder.set_state(state)
    with pytest.raises(TrainingError, match="runs on elsewhere"):
        stop(folder, timeout=1)


def test_a_killed_run_is_shown_as_interrupted_at_once_by_status_and_by_the_reader(folder: RunFolder) -> None:
    folder.set_state(replace(running_here(), pid=2**22 + 1, process_started="1", env_steps=7))
    found = run_overviews(folder.path.parent)
    assert [(entry.id, entry.state, entry.env_steps) for entry in found] == [(folder.id, "interrupted", 7)]
    folder.metrics.append({"time": 1.0, "total_timesteps": 1, "epoch": 0, "train/cnt/total_env_steps": 4.0})
    assert read(folder.path).status.state is Status.INTERRUPTED
