"""The project that a run lies in: the folders above it, up to the root of a repository."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

# Folders above the run in which a project is looked for.
MAX_LEVELS = 6

# What marks the root of a project, the surest first.
ROOT_SIGNS = (".git", "pyproject.toml", "setup.py")


def folders_above(folder: Path) -> Iterator[Path]:
    """The folder and those above it, nearest first, at most up to the root of the project.

    What lies loose in a home folder, or where everybody may write as in /tmp, belongs to no project.
    """
    place = folder.absolute()
    tops = (Path.home(), Path(place.anchor))
    for _ in range(MAX_LEVELS):
        yield place
        if is_root(place) or place.parent in tops or _is_shared(place.parent):
            return
        place = place.parent


def _is_shared(folder: Path) -> bool:
    try:
        return bool(os.stat(folder).st_mode & stat.S_ISVTX)  # noqa: PTH116
    except OSError:
        return False


def is_root(folder: Path) -> bool:
    """Whether a folder is the root of a project."""
    return any(lies_at(folder, sign) for sign in ROOT_SIGNS)


def lies_at(folder: str | Path, name: str) -> bool:
    """Whether anything of a name lies in a folder; asked so often that a Path for each would take longer."""
    return os.access(f"{folder}/{name}", os.F_OK)
