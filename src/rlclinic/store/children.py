"""Python processes of ours start without the current folder on their path: a `queue.py` there is never run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path

_SAFE = "PYTHONSAFEPATH"


def python(*arguments: str) -> list[str]:
    """The command that runs this interpreter. A flag rather than a variable, which every process below would inherit,
    a user's own trainer too."""
    return [sys.executable, "-P", *arguments]


def allow_local(module: str) -> None:
    """Let a module that the user named be found in the current folder, which a console script does not search. The
    folder comes last, and only where the module lies there: then its other files are the user's own as well."""
    here, top = str(Path.cwd()), module.partition(".")[0]
    if here not in sys.path and PathFinder.find_spec(top) is None and PathFinder.find_spec(top, [here]) is not None:
        sys.path.append(here)


@contextmanager
def spawning() -> Iterator[None]:
    """For processes that `multiprocessing` spawns, whose command is not ours; they call `settled` first."""
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        settled(before)


def settled(before: str | None = None) -> None:
    """Take the variable away again, so that nothing below inherits it."""
    if before is None:
        os.environ.pop(_SAFE, None)
    else:
        os.environ[_SAFE] = before
