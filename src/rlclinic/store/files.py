"""Files that are whole at every moment: written beside, flushed to the disk, renamed. Every writer writes so."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from rlclinic.readers.process import process_start

# What a killed process left goes at once; what seems to be another's, whose number may be in use again, after a day.
OLD = 86_400.0
# Characters of the file's own name in that of its part, so that a long name does not become too long.
LONGEST = 48
_PART = re.compile(r"\..+\.(\d{1,10})\.[0-9a-f]{8}\.part")


def write_whole(path: Path, text: str, *, like: Path | None = None) -> None:
    """Write a file so that a reader sees the old one or the new one, whatever happens; see `whole_file`."""
    with whole_file(path, like=like) as file:
        file.write(text)


@contextmanager
def whole_file(path: Path, *, like: Path | None = None) -> Iterator[TextIO]:
    """A file to write to that takes its name when the block ends well. Line ends stay; the mode is that of `like`."""
    _clear(path.parent)
    part = _part(path)
    try:
        # Closed to others until it has the mode of a file that may be closed to them.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if like is None else 0o600)
        with open(handle, "w", encoding="utf-8", newline="") as file:
            if like is not None:
                shutil.copymode(like, part)
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        # The user knows the file, not what lies beside it.
        error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


def link_whole(path: Path, target: str) -> None:
    """Let a link name another target; nothing happens on a file system without links."""
    part = _part(path)
    try:
        part.symlink_to(target)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)


def _part(path: Path) -> Path:
    """A name beside a file for what is to take its place; it tells whose it is, so that leftovers are known."""
    return path.with_name(f".{path.name[:LONGEST]}.{os.getpid()}.{secrets.token_hex(4)}.part")


def _clear(folder: Path) -> None:
    """Remove what killed processes left behind."""
    with suppress(OSError):
        for path in folder.glob(".*.part"):
            found = _PART.fullmatch(path.name)
            if found and (time.time() - path.lstat().st_mtime > OLD or not process_start(int(found[1]))):
                path.unlink(missing_ok=True)
