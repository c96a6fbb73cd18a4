"""Long work in processes of its own: it outlives the server, and the next server finds it again.

A job is a verb of the command line, never a shell command. Its folder below the root holds job.json (what, since when,
which process), and what the process answered and said.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rlclinic.apps.mcp.confine import inside
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json_file
from rlclinic.readers.no_links import open_file, real
from rlclinic.readers.process import is_running, process_start
from rlclinic.store.children import python
from rlclinic.store.files import write_whole
from rlclinic.store.processes import is_noted, note_process

FOLDER = ".rlclinic/jobs"
FACTS, ANSWER, WORDS, STOPPED, LOCK = "job.json", "answer", "words", "stopped", ".lock"
_ID = re.compile(r"[a-z]+-\d{8}-\d{6}-[0-9a-f]{4}")
# What a job's process runs. It ends in order at SIGINT, also where the server was started with that signal ignored, and
# reads nothing outside the root either, which it is started in.
_CHILD = (
    "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from rlclinic.readers.no_links import confine; confine(os.getcwd())\n"
    "from rlclinic.apps.cli import main; main()\n"
)
LOOK = 0.1
# Bytes of its words that are read.
MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Job:
    """One process that was started."""

    id: str
    kind: str
    """`training`, `trial`, `probe` or `examine`."""
    what: str
    pid: int
    process_started: str
    host: str
    started: float
    folder: Path

    @property
    def alive(self) -> bool:
        """Whether its process still runs; one that got the same number later, or that a foreign job.json names, does
        not count."""
        runs = is_running(self.pid, self.process_started, self.host) is True
        return runs and is_noted(self.pid, self.process_started, self.folder)

    @property
    def was_stopped(self) -> bool:
        """Whether somebody asked it to end."""
        return (self.folder / STOPPED).exists()

    @property
    def last_words(self) -> str:
        """The last line that it wrote to stderr."""
        lines = self.words().strip().splitlines()
        return "it was stopped" if self.was_stopped else lines[-1].strip()[:300] if lines else "without a word"

    def answer(self) -> dict[str, Any] | None:
        """The JSON that it printed; None until it is whole."""
        try:
            data = load_json_file(self.folder / ANSWER)
        except (OSError, FormatError):
            return None
        return data if isinstance(data, dict) else None

    def words(self) -> str:
        """What it wrote to stderr, without secrets."""
        from rlclinic.readers.redaction.redact import redact
        from rlclinic.reports.text import printable

        try:
            with open_file(real(self.folder / WORDS)) as file:
                return redact(printable(file.read(MOST_BYTES).decode("utf-8", "replace")))
        except OSError:
            return ""


def start_job(
    workspace: Workspace, kind: str, what: str, arguments: Sequence[str]
) -> tuple[Job, subprocess.Popen[bytes]]:
    """Start a verb of the command line apart from this process; UsageError where too many jobs run already."""
    with workspace.starting, _lock(inside(workspace.root, FOLDER)):
        return _start(workspace, kind, what, arguments)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Other servers may serve the same root: one at a time counts the jobs and starts one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise UsageError(
            f"nothing can be written below the root: {error.strerror}", hint="serve a root that can be written"
        ) from error


def _start(workspace: Workspace, kind: str, what: str, arguments: Sequence[str]) -> tuple[Job, subprocess.Popen[bytes]]:
    running = [job for job in all_jobs(workspace) if job.alive]
    if len(running) >= workspace.jobs:
        told = ", ".join(f"{job.id} ({job.what})" for job in running)
        raise UsageError(
            f"{len(running)} of at most {workspace.jobs} jobs run already: {told}",
            hint="wait with wait_for_training_completion, or stop one with stop_training",
        )
    name = f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    folder = inside(workspace.root, FOLDER) / name
    folder.mkdir()
    with open(folder / ANSWER, "wb") as answer, open(folder / WORDS, "wb") as words:
        child = subprocess.Popen(
            python("-c", _CHILD, *arguments),
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=words,
            start_new_session=True,
            cwd=workspace.root,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"},
        )
    note_process(child.pid, folder)
    job = Job(name, kind, what, child.pid, process_start(child.pid), socket.gethostname(), time.time(), folder)
    facts = {key: value for key, value in asdict(job).items() if key != "folder"}
    write_whole(folder / FACTS, json.dumps(facts, indent=2) + "\n")
    return job, child


def end_job(job: Job, patience: float) -> bool:
    """Ask a job to end, as Ctrl-C does, and wait for it; whether it has ended."""
    if job.alive:
        (job.folder / STOPPED).touch()
        os.kill(job.pid, signal.SIGINT)
    until = time.monotonic() + patience
    while job.alive and time.monotonic() < until:
        time.sleep(LOOK)
    return not job.alive


def is_job(name: str) -> bool:
    """Whether a name is the id of a job rather than of a run."""
    return _ID.fullmatch(name) is not None


def find_job(workspace: Workspace, name: str) -> Job | None:
    """A job by its id."""
    return _load(inside(workspace.root, FOLDER) / name) if is_job(name) else None


def all_jobs(workspace: Workspace) -> list[Job]:
    """Every job below the root, the newest first."""
    folder = inside(workspace.root, FOLDER)
    names = folder.iterdir() if folder.is_dir() else ()
    there = [path for path in names if is_job(path.name) and not path.is_symlink()]
    found = [job for path in there if (job := _load(path)) is not None]
    return sorted(found, key=lambda job: -job.started)


def _load(folder: Path) -> Job | None:
    try:
        facts = load_json_file(folder / FACTS)
        job = Job(**facts, folder=folder)  # type: ignore[arg-type]
    except (OSError, FormatError, TypeError):
        return None
    texts = (job.kind, job.what, job.process_started, job.host)
    is_sound = all(isinstance(text, str) for text in texts) and type(job.pid) is int and type(job.started) is float
    return job if is_sound and job.id == folder.name else None
