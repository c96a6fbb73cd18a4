"""Long work in processes of its own: it outlives the server, and the next server finds it again.

A job is a verb of the command line, never a shell command. Its folder below the root holds job.json (what, since when,
which process), and what the process answered and said.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rlclinic.apps.mcp.confine import inside
from rlclinic.apps.mcp.desk import Desk
from rlclinic.model.errors import UsageError
from rlclinic.model.numbers import number
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json_data, load_json_file

FOLDER = ".rlclinic/jobs"
FACTS, ANSWER, WORDS, STOPPED = "job.json", "answer", "words", "stopped"
_ID = re.compile(r"[a-z]+-\d{8}-\d{6}-[0-9a-f]{4}")
# What a job's process runs. It ends in order at SIGINT, also where the server was started with that signal ignored.
_CHILD = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from rlclinic.apps.cli import main; main()\n"
)
LOOK = 0.1
# Bytes of an answer that are read.
MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Job:
    """One process that was started."""

    id: str
    kind: str
    """`training`, `trial` or `probe`."""
    what: str
    pid: int
    process_started: str
    host: str
    started: float
    folder: Path

    @property
    def alive(self) -> bool:
        """Whether its process still runs; one that got the same number later does not count."""
        from rlclinic.lab.state import process_start

        if self.host != socket.gethostname():
            return False
        now = process_start(self.pid)
        return bool(now) and now == self.process_started

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
        """The JSON that it printed, without secrets; None until it is whole."""
        from rlclinic.readers.redaction.redact import redact_value

        try:
            with open(self.folder / ANSWER, "rb") as file:
                data = load_json_data(file.read(MOST_BYTES).decode("utf-8", "replace"))
        except (OSError, FormatError):
            return None
        found = redact_value("", data)
        return found if isinstance(found, dict) else None

    def words(self) -> str:
        """What it wrote to stderr, without secrets."""
        from rlclinic.readers.redaction.redact import redact
        from rlclinic.reports.text import printable

        try:
            return redact(printable((self.folder / WORDS).read_bytes()[:MOST_BYTES].decode("utf-8", "replace")))
        except OSError:
            return ""


def start_job(desk: Desk, kind: str, what: str, arguments: Sequence[str]) -> tuple[Job, subprocess.Popen[bytes]]:
    """Start a verb of the command line apart from this process; UsageError where too many jobs run already."""
    with desk.starting:
        return _start(desk, kind, what, arguments)


def _start(desk: Desk, kind: str, what: str, arguments: Sequence[str]) -> tuple[Job, subprocess.Popen[bytes]]:
    from rlclinic.lab.state import process_start

    running = [job for job in all_jobs(desk) if job.alive]
    if len(running) >= desk.jobs:
        told = ", ".join(f"{job.id} ({job.what})" for job in running)
        raise UsageError(
            f"{len(running)} of at most {desk.jobs} jobs run already: {told}",
            hint="wait with wait_for_training_completion, or stop one with stop_training",
        )
    name = f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    folder = inside(desk.root, FOLDER) / name
    try:
        folder.mkdir(parents=True)
        with open(folder / ANSWER, "wb") as answer, open(folder / WORDS, "wb") as words:
            child = subprocess.Popen(
                [sys.executable, "-c", _CHILD, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=words,
                start_new_session=True,
                cwd=desk.root,
                env={**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"},
            )
        job = Job(name, kind, what, child.pid, process_start(child.pid), socket.gethostname(), time.time(), folder)
        facts = {key: value for key, value in asdict(job).items() if key != "folder"}
        (folder / FACTS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"nothing can be written below the root: {error.strerror}", hint="serve a root that can be written"
        ) from error
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


def find_job(desk: Desk, name: str) -> Job | None:
    """A job by its id."""
    return _load(inside(desk.root, FOLDER) / name) if is_job(name) else None


def all_jobs(desk: Desk) -> list[Job]:
    """Every job below the root, the newest first."""
    folder = inside(desk.root, FOLDER)
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
    # A folder below the root may hold anything: what is no job of ours must not hide those that are.
    whole = isinstance(job.pid, int) and number(job.started) is not None
    return job if whole and all(isinstance(text, str) for text in (job.id, job.kind, job.what)) else None
