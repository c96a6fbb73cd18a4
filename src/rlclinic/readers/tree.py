"""A folder tree by names alone, for finding runs below a root without opening their files."""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from contextlib import suppress
from dataclasses import field
from fnmatch import fnmatchcase, translate
from functools import cache
from itertools import islice
from pathlib import Path

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.no_links import listing, real, status
from rlclinic.readers.reading import kept

SKIPPED_FOLDERS = frozenset(
    {".git", ".venv", "venv", "node_modules", "__pycache__", ".ipynb_checkpoints", "site-packages"}
)
# Names of files and folders below a root; of 200,000 files the list takes a second and 60 MB.
MAX_LISTED = 2_000_000
MAX_DEPTH = 24

_matcher = cache(lambda pattern: re.compile(translate(pattern)).match)


@dataclass(slots=True)
class Folder:
    """Names, sizes and times of a folder's files, and its subfolders."""

    path: Path
    real: str
    """Where it really lies."""
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Size and time of last change in nanoseconds by file name."""
    folders: dict[str, Folder] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    """Where those of its names that are links lead; empty where they are broken."""
    problem: str = ""
    """Why it could not be listed, or not to its end."""
    is_cut: bool = False
    """Whether there are more files below it than were listed."""

    def has(self, pattern: str) -> bool:
        """Whether a file (or, with a final slash, a subfolder) fits a pattern of at most two levels.

        A pattern that starts with `@` is one for the folder's own name.
        """
        if pattern.startswith("@"):
            return fnmatchcase(self.path.name, pattern[1:])
        if pattern.endswith("/"):
            return any(map(_matcher(pattern[:-1]), self.folders))
        head, separator, tail = pattern.partition("/")
        if not separator:
            return any(map(_matcher(pattern), self.files))
        return any(folder.has(tail) for name, folder in self.folders.items() if fnmatchcase(name, head))

    def fingerprint(self, *, deep: bool) -> tuple[tuple[str, int, int], ...]:
        """Names, sizes and times of the files: equal fingerprints mean that nothing has changed."""
        own = [(name, size, changed) for name, (size, changed) in self.files.items()]
        if deep:
            for name, folder in self.folders.items():
                below = folder.fingerprint(deep=True)
                own.extend((f"{name}/{item}", size, changed) for item, size, changed in below)
        return tuple(sorted(own))


def walk(root: Path, at: str = "", most: int | None = None) -> Folder:
    """The tree below a root, what is near to it first. Links to folders are not followed.

    `at` is where the root really lies, from whoever has looked already.
    """
    at, most = at or real(root), MAX_LISTED if most is None else most
    return kept((walk, root, at, most), lambda: _walked(Folder(root, at), most))


def _walked(top: Folder, most: int) -> Folder:
    pending, left = deque([(top, 0)]), most
    while pending:
        folder, depth = pending.popleft()
        try:
            with listing(folder.real) as entries:
                for entry in islice(entries, left):
                    left -= 1
                    if not entry.is_dir(follow_symlinks=False):
                        with suppress(OSError):
                            _add(folder, entry)
                    elif depth < MAX_DEPTH and entry.name not in SKIPPED_FOLDERS:
                        below = Folder(folder.path / entry.name, os.path.join(folder.real, entry.name))  # noqa: PTH118
                        folder.folders[entry.name] = below
                        pending.append((below, depth + 1))
                if not left:
                    folder.problem, top.is_cut = f"more than {most:,} files, the others are not listed", True
                    break
        except OSError as error:
            folder.problem = error.strerror or "cannot be listed"
    return top


def _add(folder: Folder, entry: os.DirEntry[str]) -> None:
    if entry.is_symlink():
        folder.links[entry.name] = ""
        target = os.path.realpath(os.path.join(folder.real, entry.name), strict=True)  # noqa: PTH118
        folder.links[entry.name] = target
        if real(target) != target:
            return
        about = status(target)
    else:
        about = entry.stat(follow_symlinks=False)
    if stat.S_ISREG(about.st_mode):
        folder.files[entry.name] = about.st_size, about.st_mtime_ns
