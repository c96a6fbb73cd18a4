"""A bounded, link-safe look at the files of one run. Nothing in it is executed or unpickled."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

# A run folder with more files than this is a data set or a checkout, not a run.
MAX_FILES = 5_000
MAX_DEPTH = 8
# Larger files are read up to here; at 54 bytes per event this is 40 million scalars.
MAX_BYTES = 2 << 30

SKIPPED_FOLDERS = frozenset(
    {".git", ".venv", "venv", "node_modules", "__pycache__", ".ipynb_checkpoints", "site-packages"}
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One regular file of a run."""

    path: Path
    relative: str
    size: int
    modified: float

    @property
    def name(self) -> str:
        return self.path.name

    def read(self, limit: int = MAX_BYTES) -> bytes:
        """The bytes that are there now; a growing file is read once."""
        with self.path.open("rb") as file:
            return file.read(limit)

    def head(self, size: int = 4096) -> bytes:
        """The first bytes, for a look at the content."""
        return self.read(size)


@dataclass(frozen=True, slots=True)
class Place:
    """The files of one run: a folder's, or those that were named."""

    root: Path
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    member: str = ""
    """Which run inside a file that holds several (a database, a folder of separate event files)."""
    folders: frozenset[str] = field(default_factory=frozenset)

    def match(self, *patterns: str) -> tuple[Entry, ...]:
        """Files whose name or relative path fits one of the patterns."""
        return tuple(
            entry
            for entry in self.entries
            if any(fnmatchcase(entry.name, p) or fnmatchcase(entry.relative, p) for p in patterns)
        )

    def first(self, *patterns: str) -> Entry | None:
        """The match nearest to the root."""
        found = self.match(*patterns)
        return min(found, key=lambda entry: (entry.relative.count("/"), entry.relative), default=None)

    @property
    def folder(self) -> Path:
        """The folder that the run lies in."""
        return self.root if self.root.is_dir() else self.root.parent


def scan(root: Path) -> Place:
    """All regular files below a folder, without following links to folders or out of it."""
    entries: list[Entry] = []
    notes: list[str] = []
    folders: set[str] = set()
    for entry, relative in _walk(root, root.resolve(), folders, notes):
        entries.append(Entry(Path(entry.path), relative, *_size_and_time(entry)))
        if len(entries) >= MAX_FILES:
            notes.append(f"only the first {MAX_FILES} files were looked at")
            break
    entries.sort(key=lambda found: found.relative)
    return Place(root, tuple(entries), tuple(notes), folders=frozenset(folders))


def single(path: Path, member: str = "") -> Place:
    """One file as a run of its own."""
    return named_files(path, (path,), member)


def named_files(root: Path, paths: tuple[Path, ...], member: str = "") -> Place:
    """Several files that the user names as one run."""
    return Place(root, tuple(_named(path) for path in paths), member=member)


def _named(path: Path) -> Entry:
    status = path.stat()
    return Entry(path, path.name, status.st_size, status.st_mtime)


def _walk(folder: Path, root: Path, folders: set[str], notes: list[str]) -> Iterator[tuple[os.DirEntry[str], str]]:
    pending: list[tuple[str, str, int]] = [(str(folder), "", 0)]
    while pending:
        current, prefix, depth = pending.pop()
        try:
            found = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError as error:
            notes.append(f"{prefix or '.'}: {error.strerror or 'cannot be listed'}")
            continue
        for entry in found:
            relative = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                folders.add(relative)
                if entry.name not in SKIPPED_FOLDERS and depth < MAX_DEPTH:
                    pending.append((entry.path, relative + "/", depth + 1))
            elif _is_file_inside(entry, root, relative, notes):
                yield entry, relative


def _is_file_inside(entry: os.DirEntry[str], root: Path, relative: str, notes: list[str]) -> bool:
    if not entry.is_symlink():
        return entry.is_file(follow_symlinks=False)
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):
        notes.append(f"{relative}: broken link, ignored")
        return False
    if not target.is_relative_to(root):
        notes.append(f"{relative}: link out of the run, not followed")
        return False
    return stat.S_ISREG(target.stat().st_mode)


def _size_and_time(entry: os.DirEntry[str]) -> tuple[int, float]:
    try:
        status = entry.stat()
    except OSError:
        return 0, 0.0
    return status.st_size, status.st_mtime
