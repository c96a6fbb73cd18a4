"""The processes that work on a folder for this user: trainings and jobs, noted in the user's own state folder.

A folder may be anybody's, and so may be the process number in it. A signal is sent only to a process that is noted here
for that very folder.
"""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rlclinic.readers.process import process_start

# Nothing can be written, or this user has no home.
UNKNOWN = (OSError, RuntimeError)


def note_process(pid: int, folder: Path) -> Path | None:
    """Note that a process works on a folder; where that cannot be written, the process is not stopped from here."""
    with suppress(*UNKNOWN):
        note = _note(pid, process_start(pid), folder)
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in note.parent.glob("[0-9]*-*"):
            if not process_start(int(path.name.partition("-")[0])):
                path.unlink(missing_ok=True)
        note.touch()
        return note
    return None


@contextmanager
def noted(folder: Path) -> Iterator[None]:
    """This process works on the folder as long as the block lasts."""
    note = note_process(os.getpid(), folder)
    try:
        yield
    finally:
        with suppress(OSError):
            if note is not None:
                note.unlink(missing_ok=True)


def is_noted(pid: int, started: str, folder: Path) -> bool:
    """Whether the process with this number and start, as `process_start` told it, is noted for the folder."""
    with suppress(*UNKNOWN):
        return _note(pid, started, folder).is_file()
    return False


def _note(pid: int, started: str, folder: Path) -> Path:
    """An empty file: its name says all. Of the folder it holds a digest, as names of folders may hold secrets."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    digest = hashlib.blake2b(f"{started}\0{folder.resolve()}".encode("utf-8", "surrogateescape"), digest_size=16)
    return state / "rlclinic" / "processes" / socket.gethostname() / f"{pid}-{digest.hexdigest()}"
