"""Folders that cannot be written, full disks, and several processes at one thing: clear words, nothing half-written."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.apps.mcp.jobs import start_job
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.folder import create_folder
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Status
from rlclinic.readers.state import running_here
from rlclinic.store.index import RunIndex
from rlclinic.store.listing import list_runs
from tests.apps.mcp.talk import Talk, make_root, stdio
from tests.drivers import driven, unprivileged
from tests.lab.environments import small

BROKEN = "high_lr_ppo_cartpole"


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def read_only(tmp_path: Path, runs: Path) -> Iterator[Path]:
    """A run in a folder that may be read and not written."""
    root = tmp_path / "closed"
    shutil.copytree(runs / "faults" / BROKEN, root / BROKEN)
    paths = [root, *root.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield root / BROKEN
    for path in paths:
        path.chmod(0o755)


@pytest.mark.slow
def test_a_run_that_cannot_be_written_is_read_like_any_other(read_only: Path) -> None:
    before = content(read_only)
    shown = unprivileged("show", read_only, "--json")
    assert json.loads(shown.stdout)["run"]["id"] == BROKEN, shown.stderr
    assert json.loads(unprivileged("diagnose", read_only, "--json").stdout)["findings"]
    listed = unprivileged("runs", read_only.parent, "--json")
    assert json.loads(listed.stdout)["count"] == 1, listed.stderr
    assert content(read_only) == before


@pytest.mark.slow
def test_a_fix_that_cannot_be_written_says_so(read_only: Path) -> None:
    before = content(read_only)
    found = unprivileged("fix", read_only, "--write", "--json")
    told = json.loads(found.stdout)
    assert (found.returncode, told["written"]) == (2, False)
    assert told["reason"] == f"{read_only / 'config.yaml'}: cannot be written: Permission denied"
    assert content(read_only) == before


@pytest.mark.slow
def test_training_says_what_cannot_be_written(read_only: Path, tmp_path: Path) -> None:
    new = unprivileged("train", "CartPole-v1:ppo", "--root", read_only.parent)
    assert (new.returncode, "Traceback" in new.stderr) == (2, False)
    assert f"{read_only.parent}: cannot be written: Permission denied\n  name another folder with --root" in new.stderr

    folder = create_folder(tmp_path / "runs", small("PPO"), {})
    folder.set_state(running_here().end(Status.INTERRUPTED, "Ctrl-C", 5, 1.0))
    folder.path.chmod(0o555)
    try:
        resumed = unprivileged("train", "--resume", folder.path)
        assert (resumed.returncode, "Traceback" in resumed.stderr) == (2, False)
        assert f"{folder.path}: cannot be written: Permission denied" in resumed.stderr
        ended = {**running_here().to_json(), "pid": 2**22 + 1, "process_started": "1"}
        folder.path.chmod(0o755)
        (folder.path / "status.json").write_text(json.dumps(ended))
        folder.path.chmod(0o555)
        stopped = unprivileged("stop", folder.path)
        assert stopped.returncode == 2
        assert stopped.stderr.startswith(f"rlclinic: {folder.path / 'status.json'}: cannot be read or written")
    finally:
        folder.path.chmod(0o755)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> None:
    with open(disk / "filler", "ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue


def test_a_full_disk_is_told_and_nothing_is_half_written(small_disk: Path, runs: Path) -> None:
    run = small_disk / BROKEN
    shutil.copytree(runs / "faults" / BROKEN, run)
    fill(small_disk)
    before = content(small_disk)
    fixed = CliRunner().invoke(app, ["fix", str(run), "--write"])
    assert fixed.exit_code == 2
    assert "config.yaml: cannot be written: No space left on device" in fixed.stdout
    page = ["--output-format", "html", "--output", str(small_disk / "page.html")]
    assert "No space left" in str(CliRunner().invoke(app, ["diagnose", str(run), *page]).exception)
    with pytest.raises(TrainingError, match="No space left") as caught:
        create_folder(small_disk / "runs", small("PPO"), {})
    assert "free some space" in caught.value.hint
    shutil.rmtree(small_disk / "runs", ignore_errors=True)
    assert content(small_disk) == before


@pytest.mark.parametrize("more", [pytest.param([], marks=pytest.mark.slow), ["--json"]])
def test_a_full_output_is_an_error_and_no_traceback(more: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "rlclinic", "explain", "OPT01", *more]
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (found.returncode, found.stderr) == (2, "rlclinic: cannot be read or written: No space left on device\n")


# Processes that begin at the same moment: each prints one line.
AT_ONCE = """
import os, sys, time
from pathlib import Path
start = time.monotonic() + 0.3
children = []
for number in range(8):
    pid = os.fork()
    if not pid:
        time.sleep(max(0.0, start - time.monotonic()))
        os.write(1, (work(number) + "\\n").encode())
        os._exit(0)
    children.append(pid)
for pid in children:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""

LISTED = """
import json, sys
from pathlib import Path
from rlclinic.store.index import RunIndex
from rlclinic.store.listing import list_runs

def work(number):
    found = list_runs(Path(sys.argv[1]), index=RunIndex(Path(sys.argv[2])))
    return json.dumps([sorted(summary["id"] for summary in found.summaries), len(found.errors)])
"""


@pytest.mark.slow
def test_eight_processes_share_one_index(tmp_path: Path, runs: Path) -> None:
    root, index = tmp_path / "runs", tmp_path / "new" / "index.sqlite"
    names = sorted(f"run{number}" for number in range(4))
    for name in names:
        shutil.copytree(runs / "faults" / BROKEN, root / name)
    lines = driven(LISTED + AT_ONCE, root, index).splitlines()
    assert [json.loads(line) for line in lines] == [[names, 0]] * 8
    assert list_runs(root, index=RunIndex(index)).from_index == 4, "the index is whole and holds them all"


STARTED = """
import sys, time
from pathlib import Path
from rlclinic.apps.mcp import jobs
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError
jobs._CHILD = "import time; time.sleep(3)"

def work(number):
    try:
        return jobs.start_job(Workspace(Path(sys.argv[1]), 2), "training", "x", [])[0].id
    except UsageError as error:
        return error.message.partition(":")[0]
"""


def test_servers_on_one_root_start_no_more_jobs_together_than_one_would(tmp_path: Path) -> None:
    lines = driven(STARTED + AT_ONCE, tmp_path.resolve()).splitlines()
    assert lines.count("2 of at most 2 jobs run already") == 6
    assert len({line for line in lines if line.startswith("training-")}) == 2


def test_a_lock_that_leads_out_of_the_root_is_not_followed(tmp_path: Path) -> None:
    jobs = tmp_path / "root" / ".rlclinic" / "jobs"
    jobs.mkdir(parents=True)
    (jobs / ".lock").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="nothing can be written"):
        start_job(Workspace((tmp_path / "root").resolve()), "training", "x", [])
    assert not (tmp_path / "outside").exists()


@pytest.mark.slow
def test_what_one_server_starts_another_on_the_same_root_follows_and_stops(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    one, two = (Talk(stdio(root, tmp_path)) for _ in range(2))
    try:
        assert one.data("list_runs") == two.data("list_runs")
        started = one.data("start_training", config_id="CartPole-v1:ppo", max_env_steps=2_000_000)
        name = started["run_id"] or started["job_id"]
        until = time.monotonic() + 60
        while two.data("get_training_status", run_id=name)["status"] == "starting" and time.monotonic() < until:
            time.sleep(0.5)
        assert two.data("get_training_status", run_id=name)["running"] is True
        assert two.data("stop_training", run_id=name)["success"] is True
        assert one.data("get_training_status", run_id=name)["status"] == "interrupted"
    finally:
        one.close()
        two.close()
    assert not [path for path in root.rglob(".*.part") if path.is_file()]
