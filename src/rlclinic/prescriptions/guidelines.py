"""A project's own guidelines, which come before any advice: named, never read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rlclinic.readers.no_links import is_below
from rlclinic.readers.project import ROOT_SIGNS, lies_at
from rlclinic.readers.redaction.redact import redact

NAMES = ("CLAUDE.md", "AGENTS.md", "CONTRIBUTING.md")
REPOSITORY = ".git"
# Folders above a run that are looked at, at most: runs lie a few levels below their project.
HIGHEST = 12


def guidelines(location: Path) -> tuple[str, ...]:
    """Paths of the guideline files between a run and the root of its project; empty outside of a project.

    They are relative to the working directory where they lie below it, and told without secrets.
    """
    try:
        folders = list(_folders(os.path.realpath(location))) if location.exists() else []
    except (OSError, ValueError):
        return ()
    # The walk ends at a repository's root, so that only the last folder can be one.
    places = [(folder, mark) for mark in ROOT_SIGNS for folder in (folders[-1:] if mark == REPOSITORY else folders)]
    root = next((folder for folder, mark in places if lies_at(folder, mark)), None)
    if root is None:
        return ()
    inside = folders[: folders.index(root) + 1]
    found = [Path(folder, name) for folder in reversed(inside) for name in NAMES if lies_at(folder, name)]
    return tuple(_shown(path) for path in found if path.is_file())


def _shown(path: Path) -> str:
    try:
        here = os.getcwd()  # noqa: PTH109
    except OSError:
        here = ""
    text = str(path)
    below = here and is_below(text, here) and text != here
    return redact(text[len(here.rstrip(os.sep)) + 1 :] if below else text)


def _folders(start: str) -> Iterator[str]:
    """The folders above a run, up to a repository's root; the home folder and all above it are not the project's."""
    home, folder = os.path.expanduser("~"), start  # noqa: PTH111
    for _ in range(HIGHEST):
        above = os.path.dirname(folder)  # noqa: PTH120
        if is_below(home, folder) or folder == above:
            return
        if folder is not start or os.path.isdir(folder):  # noqa: PTH112
            yield folder
        if lies_at(folder, REPOSITORY):
            return
        folder = above
