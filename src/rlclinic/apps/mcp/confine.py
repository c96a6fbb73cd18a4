"""The root that nothing leaves: every path that a tool touches passes here first."""

from __future__ import annotations

import os
from pathlib import Path

from rlclinic.model.errors import UsageError

# Characters of a name; longer ones are no names.
LONGEST = 1_000


def inside(root: Path, name: str) -> Path:
    """The path that a name means below the root; refused where it leaves it by `..`, a link or an absolute path.

    Whether something exists outside is not told.
    """
    if not name or len(name) > LONGEST or "\0" in name:
        raise UsageError("this is no name of a file or run", hint="call list_runs for the names")
    try:
        path = os.path.realpath(os.path.join(root, name))  # noqa: PTH118
    except (OSError, ValueError) as error:
        raise UsageError("this name cannot be followed", path=name, hint="call list_runs for the names") from error
    if path != str(root) and not path.startswith(f"{str(root).rstrip('/')}/"):
        raise UsageError(
            f"{name!r} leads out of the root of this server",
            hint="only what lies below the root is read; call list_runs for the runs there",
        )
    return Path(path)


def shown(root: Path, path: str | Path) -> str:
    """A path as the caller names it: relative to the root."""
    text = str(path)
    if text == str(root):
        return "."
    return text.removeprefix(f"{root}/")
