"""A folder tree by names alone, for finding runs below a root without opening their files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from rlclinic.readers.place import SKIPPED_FOLDERS

MAX_FOLDERS = 200_000
MAX_DEPTH = 24


@dataclass(slots=True)
class Folder:
    """Names, sizes and times of a folder's files, and its subfolders."""

    path: Path
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Size and time of last change in nanoseconds by file name."""
    folders: dict[str, Folder] = field(default_factory=dict)

    def has(self, pattern: str) -> bool:
        """Whether a file (or, with a final slash, a subfolder) fits a pattern of at most two levels.

        A pattern that starts with `@` is one for the folder's own name.
        """
        if pattern.startswith("@"):
            return fnmatchcase(self.path.name, pattern[1:])
        if pattern.endswith("/"):
            return any(fnmatchcase(name, pattern[:-1]) for name in self.folders)
        head, separator, tail = pattern.partition("/")
        if not separator:
            return any(fnmatchcase(name, pattern) for name in self.files)
        return any(folder.has(tail) for name, folder in self.folders.items() if fnmatchcase(name, head))

    def fingerprint(self, *, deep: bool) -> tuple[tuple[str, int, int], ...]:
        """Names, sizes and times of the files: equal fingerprints mean that nothing has changed."""
        own = [(name, size, changed) for name, (size, changed) in self.files.items()]
        if deep:
            for name, folder in self.folders.items():
                below = folder.fingerprint(deep=True)
                own.extend((f"{name}/{item}", size, changed) for item, size, changed in below)
        return tuple(sorted(own))


def walk(root: Path) -> Folder:
    """The tree below a root. Links to folders are not followed, folders that cannot be listed are empty."""
    top = Folder(root)
    pending: list[tuple[Folder, int]] = [(top, 0)]
    count = 0
    while pending:
        folder, depth = pending.pop()
        count += 1
        if count > MAX_FOLDERS:
            break
        try:
            entries = list(os.scandir(folder.path))
        except OSError:
            continue
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < MAX_DEPTH and entry.name not in SKIPPED_FOLDERS:
                        below = folder.folders[entry.name] = Folder(folder.path / entry.name)
                        pending.append((below, depth + 1))
                elif entry.is_file():
                    status = entry.stat()
                    folder.files[entry.name] = status.st_size, status.st_mtime_ns
            except OSError:
                continue
    return top
