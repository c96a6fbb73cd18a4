"""A file is the old one or the new one, whenever its writer is killed, and what it leaves is cleared away."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rlclinic.apps.cli.output import deliver
from rlclinic.model.errors import UsageError
from rlclinic.store import files
from rlclinic.store.files import link_whole, whole_file, write_whole
from tests.drivers import driven

# Ends a writer, without any clean-up, before each line that it runs, one line further every time.
KILLED_AT_EVERY_LINE = """
import os, sys
from pathlib import Path
from rlclinic.prescriptions.edit import write_file as edit
from rlclinic.prescriptions.edit.plan import Plan
from rlclinic.store import files

folder = Path(sys.argv[1])
target, old, new = folder / "config.yaml", "gamma: 0.99\\n", "gamma: 0.9\\n"
ours = {edit.__file__, files.__file__}

def killed(lines):
    left = lines
    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename not in ours:
            return None
        left -= event == "line"
        if left < 0:
            os._exit(9)
        return trace
    pid = os.fork()
    if not pid:
        sys.settrace(trace)
        edit.write_file(Plan(target, old, new, ()))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9

deaths, leftovers, lines = 0, 0, 0
while True:
    for path in folder.iterdir():
        path.unlink()
    target.write_text(old)
    if not killed(lines):
        break
    backups = [path.read_text() for path in folder.glob("config*.bak*")]
    assert target.read_text() in (old, new), lines
    assert backups in ([], [old]), (lines, backups)
    assert backups or target.read_text() == old, lines
    leftovers += len(list(folder.glob(".*")))
    target.write_text(old)
    edit.write_file(Plan(target, old, new, ()))
    assert target.read_text() == new
    assert not [path for path in folder.iterdir() if ".part" in path.name], lines
    assert {path.read_text() for path in folder.glob("config*.bak*")} == {old}, lines
    deaths, lines = deaths + 1, lines + 1
print(deaths, leftovers)
"""


def test_a_fix_that_is_killed_at_any_line_leaves_whole_files_and_the_next_one_clears_up(tmp_path: Path) -> None:
    deaths, leftovers = map(int, driven(KILLED_AT_EVERY_LINE, tmp_path).split())
    assert deaths > 40
    assert leftovers > 5, "some deaths leave a part, or nothing was proved"


def test_the_parts_of_the_living_stay_and_those_of_the_dead_and_of_last_week_go(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    names = {
        "dead": f".a.yaml.{child.pid}.0123abcd.part",
        "living": f".a.yaml.{os.getpid()}.0123abcd.part",
        "old": f".b.yaml.{os.getpid()}.0123abcd.part",
        "strange": ".a.yaml.part",
        "huge": f".a.yaml.{'9' * 10}.0123abcd.part",
    }
    for name in names.values():
        (tmp_path / name).touch()
    os.utime(tmp_path / names["old"], (time.time() - 1e6,) * 2)
    write_whole(tmp_path / "c.yaml", "text")
    assert {path.name for path in tmp_path.iterdir()} == {names["living"], names["strange"], "c.yaml"}


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_full_disk_is_told_with_the_file_s_own_name_and_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "report.md"
    path.write_text("old")
    monkeypatch.setattr(os if moment == "fsync" else Path, moment, full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(path, "new")
    assert caught.value.filename == str(path)
    with pytest.raises(UsageError, match="cannot be written: No space left"):
        deliver("new", path)
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("report.md", "old")]


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError), whole_file(tmp_path / "metrics.csv") as file:
        file.writelines(["half", "\udc80"])
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_closed_to_others_is_never_open_to_them(tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.touch(0o600)
    with whole_file(tmp_path / "secret.yaml.bak", like=secret) as file:
        part = next(tmp_path.glob(".*.part"))
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        file.write("key")
    assert stat.S_IMODE((tmp_path / "secret.yaml.bak").stat().st_mode) == 0o600


def test_a_name_as_long_as_the_system_allows_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 120 + ".yaml")
    write_whole(path, "text")
    assert path.read_text() == "text"


def test_a_link_changes_its_target_in_one_step_and_leaves_no_part(tmp_path: Path) -> None:
    for name in ("one", "two"):
        link_whole(tmp_path / "@last", name)
    assert [(path.name, str(path.readlink())) for path in tmp_path.iterdir()] == [("@last", "two")]


def test_a_pipe_that_is_named_as_the_output_stays_a_pipe(tmp_path: Path) -> None:
    """A rename would put a file in its place: as root, in the place of /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    deliver("told", pipe)
    assert os.read(reading, 100) == b"told"
    os.close(reading)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_every_writer_of_the_package_writes_whole_files() -> None:
    """`write_text` tears a file when its process dies; only scripts of the developers and pipes may use it."""
    package = Path(files.__file__).parents[1]
    allowed = {"probes/signatures.py", "apps/mcp/published.py", "apps/cli/output.py"}
    found = {
        str(path.relative_to(package)) for path in package.rglob("*.py") if ".write_text(" in path.read_text("utf-8")
    }
    assert found == allowed
