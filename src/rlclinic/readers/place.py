"""A bounded, link-safe look at the files of one run. Nothing in it is executed or unpickled."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from fnmatch import translate
from functools import lru_cache
from heapq import nsmallest
from pathlib import Path
from typing import BinaryIO

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.no_links import is_below, real, status
from rlclinic.readers.reading import opened
from rlclinic.readers.tree import Folder, walk

# A run folder with more files than this is a data set or a checkout, not a run.
MAX_FILES = 5_000
MAX_DEPTH = 8
# Larger files are read up to here; at 54 bytes per event this is 40 million scalars.
MAX_BYTES = 2 << 30
MAX_NOTES = 20

# Which files are looked at where there are too many: those that readers know by name, then tables, logs and configs,
# then what may be one; what is data of the run and never opened comes after all others.
_KINDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"tfevents|\.wandb$|(?:^|/)(?:(?:metrics|params|tags|scalars)/[^/]+|(?:[^/]*monitor|progress|metrics|results?"
        r"|evaluations|model|run|meta|status|trainer_state|config\w*|cfg|params|args|hparams|overrides|agent|env)"
        r"\.(?!py$)\w+)$",
        r"\.(?:csv|tsv|jsonl|ndjson|ya?ml|toml|log|out|err|db)$",
        r"\.(?:json|txt|npz|zip|ipynb)$|(?:^|/)[^/.]+$",
    )
)
_WILD = frozenset("*?[")
_DATA = re.compile(
    r"\.(?:png|jpe?g|gif|bmp|webp|svg|mp4|avi|webm|npy|pkl|pickle|pt|pth|ckpt|safetensors|onnx|h5|hdf5|bin|parquet"
    r"|arrow|pyc?|pyi|so|c|h|cpp|js|html|css|md)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One regular file of a run."""

    path: str
    """Where it really lies, links followed when it was found. Nothing but `open` uses it."""
    relative: str
    size: int
    modified: float

    @property
    def name(self) -> str:
        return self.relative.rpartition("/")[2]

    def open(self) -> AbstractContextManager[BinaryIO]:
        """The file that was found, and no other: OSError where a link or no regular file is in its place now."""
        return opened(self.path)

    def read(self, limit: int = MAX_BYTES) -> bytes:
        """The bytes that are there now; a growing file is read once."""
        with self.open() as file:
            # Asked for more, Python sets all of it aside first.
            return file.read(min(limit, os.fstat(file.fileno()).st_size + 1))

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

    def match(self, *patterns: str) -> tuple[Entry, ...]:
        """Files whose name or relative path fits one of the patterns."""
        fits = _fitting(patterns)
        return tuple(entry for entry in self.entries if fits(entry.name) or fits(entry.relative))

    def first(self, *patterns: str) -> Entry | None:
        """The match nearest to the root."""
        found = self.match(*patterns)
        return min(found, key=lambda entry: (entry.relative.count("/"), entry.relative), default=None)

    @property
    def folder(self) -> Path:
        """The folder that the run lies in."""
        return self.root if self.root.is_dir() else self.root.parent


@lru_cache(maxsize=512)
def _fitting(patterns: tuple[str, ...]) -> Callable[[str], object]:
    """Whether a name fits; plain names and plain endings, which most are, need no regular expression."""
    names = frozenset(pattern for pattern in patterns if not _WILD.intersection(pattern))
    endings = tuple(pattern[1:] for pattern in patterns if pattern[0] == "*" and not _WILD.intersection(pattern[1:]))
    rest = [pattern for pattern in patterns if pattern not in names and pattern[1:] not in endings]
    matched = re.compile("|".join(map(translate, rest))).match if rest else None
    return lambda name: name in names or name.endswith(endings) or (matched is not None and matched(name))


def scan(root: Path, at: str = "") -> Place:
    """The regular files below a folder, without following links to folders or out of it; of too many the important.

    `at` is where the folder really lies, from whoever has looked already.
    """
    notes: list[str] = []
    found = list(_files(walk(root, at), notes))
    notes.sort()
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"and {len(notes) - MAX_NOTES} more links and folders that were not followed"]
    if len(found) > MAX_FILES:
        notes.append(f"only {MAX_FILES:,} files were looked at; {len(found) - MAX_FILES:,} were passed over")
        found = nsmallest(MAX_FILES, found, key=lambda pair: importance(pair[0]))
    found.sort(key=lambda pair: pair[0])
    return Place(root, tuple(entry_in(folder, name) for name, folder in found), tuple(notes))


def entry_in(folder: Folder, relative: str) -> Entry:
    """A file of a folder, by its name there or by its path from a folder above."""
    name = relative.rpartition("/")[2]
    size, changed = folder.files[name]
    return Entry(folder.links.get(name) or f"{folder.real.rstrip(os.sep)}{os.sep}{name}", relative, size, changed / 1e9)


def importance(relative: str) -> tuple[int, int, str]:
    """Sorts files by how much a reader wants them: by their name, then by how near to the root they lie."""
    rank = next((rank for rank, kind in enumerate(_KINDS) if kind.search(relative)), len(_KINDS))
    return rank + (_DATA.search(relative) is not None), relative.count("/"), relative


def single(path: Path, member: str = "", at: str = "") -> Place:
    """One file as a run of its own."""
    return Place(path, (named(path, at),), member=member)


def beside(path: Path) -> Place:
    """The files in the folder of a file that the user names, without that file."""
    folder = scan(path.parent)
    return Place(path, tuple(e for e in folder.entries if "/" not in e.relative and e.name != path.name))


def named(path: Path, at: str = "") -> Entry:
    """A file by the name that the user gave, whose links are followed; OSError where there is none."""
    where = at or real(path)
    found = status(where)
    return Entry(where, path.name, found.st_size, found.st_mtime)


def _files(top: Folder, notes: list[str]) -> Iterator[tuple[str, Folder]]:
    """The files below a folder, with the folder that each lies in."""
    pending = [("", top)]
    for prefix, folder in pending:
        if folder.problem:
            notes.append(f"{prefix or '.'}: {folder.problem}")
        for name, target in folder.links.items():
            if not target:
                notes.append(f"{prefix}{name}: broken link, ignored")
            elif not is_below(target, top.real):
                notes.append(f"{prefix}{name}: link out of the run, not followed")
        for name in folder.files:
            if is_below(folder.links.get(name, top.real), top.real):
                yield prefix + name, folder
        if prefix.count("/") < MAX_DEPTH:
            pending += ((f"{prefix}{name}/", below) for name, below in folder.folders.items())
