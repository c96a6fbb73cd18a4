"""Follow the files of one run as they grow, by polling alone: network disks tell nobody of changes.

Only what was appended is read. A file that is not the one it was is told by its content, not by its time: a clock may
jump, a copy has a new inode, and a rotated log goes on elsewhere.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field, replace
from typing import BinaryIO

from rlclinic.live.kept import Kept, kept_of
from rlclinic.model.errors import RunReadError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run, RunStatus, Status
from rlclinic.readers.discover import RunRef, place_of
from rlclinic.readers.no_links import listing, open_file, status
from rlclinic.readers.open import read_place
from rlclinic.readers.place import Entry
from rlclinic.readers.state import GONE, STOPPED
from rlclinic.readers.status import NO_ERROR

# Bytes that must be the same for a file to be the one that was read.
ANCHOR = 256
# Read of one file at a time; a long one takes some looks to catch up.
MOST_BYTES = 256 << 20
# Seconds without news, and times the longest pause between two rows, after which a run no longer counts as going on.
SILENCE, PAUSES = 60.0, 5.0
# Without the end of a row in so many bytes this is none, and is not read again.
LONGEST_ROW = 16 << 20


@dataclass(frozen=True, slots=True)
class KeptEntry(Entry):
    """A file of which a part is read in its place."""

    content: bytes = field(default=b"", repr=False)

    def open(self) -> AbstractContextManager[BinaryIO]:
        return _opened(self.content)


@contextmanager
def _opened(content: bytes) -> Iterator[BinaryIO]:
    # Parsers ask the system for the size of what they read.
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        file.seek(0)
        yield file


class Growing:
    """One file that is appended to."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.behind = False
        """Whether there is more to read than was read at once."""
        self._start()

    def update(self, entry: Entry) -> KeptEntry:
        """Read what is new; the file as far as it is kept."""
        with open_file(entry.path) as file:
            now = os.fstat(file.fileno())
            if not self._goes_on(file, now.st_size):
                rotated = self._rotated(entry.path, (now.st_dev, now.st_ino))
                if rotated is not None:
                    with rotated:
                        self._read(rotated)
                    self._offset, self._head, self._tail = 0, b"", b""
                else:
                    self._start()
            torn = self._read(file)
            self._inode = now.st_dev, now.st_ino
            self.behind = self._offset + len(torn) < now.st_size
        content = self._kept.content() + (b"" if self.behind else torn)
        return KeptEntry(entry.path, entry.relative, entry.size, entry.modified, content=content)

    def _start(self) -> None:
        kept = kept_of(self._name)
        assert kept is not None
        self._kept: Kept = kept
        self._offset, self._head, self._tail = 0, b"", b""
        self._inode = (0, 0)

    def _goes_on(self, file: BinaryIO, size: int) -> bool:
        """Whether the file still begins and goes on with what was read."""
        if size < self._offset:
            return False
        file.seek(0)
        if file.read(len(self._head)) != self._head:
            return False
        file.seek(self._offset - len(self._tail))
        return file.read(len(self._tail)) == self._tail

    def _read(self, file: BinaryIO) -> bytes:
        """Take the rows that are whole; what is left is the beginning of the next, or a last one without an end."""
        file.seek(self._offset)
        data = file.read(MOST_BYTES)
        taken = self._kept.take(data)
        if len(data) - taken > LONGEST_ROW:
            taken = len(data)
        if not taken:
            return data
        if len(self._head) < ANCHOR:
            file.seek(0)
            self._head = file.read(min(ANCHOR, self._offset + taken))
        self._offset += taken
        self._tail = (self._tail + data[:taken])[-ANCHOR:]
        return data[taken:]

    def _rotated(self, path: str, inode: tuple[int, int]) -> BinaryIO | None:
        """The file that was read so far, under the name that it was given: `progress.csv.1`."""
        if not self._offset or self._inode == inode:
            return None
        folder, _, name = path.rpartition(os.sep)
        try:
            with listing(folder) as entries:
                names = [one.name for one in entries if one.name.startswith(name) and one.name != name]
            for other in names:
                found = status(f"{folder}{os.sep}{other}")
                if (found.st_dev, found.st_ino) == self._inode:
                    return open_file(f"{folder}{os.sep}{other}")
        except OSError:
            return None
        return None


class Follower:
    """One run, read again whenever its files have changed."""

    def __init__(self, ref: RunRef) -> None:
        self.ref = ref
        self._forget()

    def _forget(self) -> None:
        self._files: dict[str, Growing] = {}
        self._seen: tuple[tuple[str, int, float], ...] = ()
        self._steps = -1.0
        self._grew: float | None = None
        self._pause = 0.0

    def poll(self) -> Run | None:
        """The run as it is now; None where nothing has changed. RlclinicError where it is gone or cannot be read."""
        if not self.ref.path.exists():
            self._forget()
            raise RunReadError("the run is not there any more", path=str(self.ref.path))
        # Where it lies is looked up anew: a folder may be deleted and made again.
        place = place_of(replace(self.ref, at=""))
        seen = tuple((entry.relative, entry.size, entry.modified) for entry in place.entries)
        if seen == self._seen and self._is_going_on() == (self._grew is not None):
            return None
        entries = tuple(self._kept(entry) for entry in place.entries)
        run = read_place(replace(place, entries=entries), self.ref.reader)
        written = max((entry.modified for entry in place.entries), default=0.0)
        grew = 0 <= self._steps < run.steps or (self._steps < 0 and abs(time.time() - written) < SILENCE)
        self._steps = run.steps
        self._seen = () if any(file.behind for file in self._files.values()) else seen
        if grew:
            now = time.monotonic()
            self._pause = max(self._pause, now - self._grew) if self._grew is not None else 0.0
            self._grew = now
        elif not self._is_going_on():
            self._grew = None
        if self._grew is not None and _may_go_on(run.status, grew=grew):
            return replace(run, status=RunStatus(Status.RUNNING, "its log grows while it is watched"))
        return run

    def _is_going_on(self) -> bool:
        """Whether it grew before our eyes not long ago, whatever the clocks of other machines say."""
        return self._grew is not None and time.monotonic() - self._grew < max(SILENCE, PAUSES * self._pause)

    def _kept(self, entry: Entry) -> Entry:
        if kept_of(entry.name) is None:
            return entry
        growing = self._files.setdefault(entry.relative, Growing(entry.name))
        try:
            return growing.update(entry)
        except OSError:
            return entry


def _may_go_on(status: RunStatus, *, grew: bool) -> bool:
    """Whether a run that was seen to grow may go on: nothing in its files says that it ended, or it grew after that."""
    if status.state is Status.INTERRUPTED:
        return status.reason != GONE and (grew or status.reason == STOPPED or status.reason.endswith(NO_ERROR))
    return status.state is Status.UNKNOWN
