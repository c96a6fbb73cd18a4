"""The folder of a run: `config.json`, `metrics.csv`, `run.log`, `status.json`, `checkpoints/`.

Everything in it can be read at any moment, also after the process was killed: rows are whole lines, the small files
are written beside and renamed, a checkpoint appears under its name when it is complete.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rlclinic import __version__
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.metrics_file import MetricsFile
from rlclinic.lab.recipe import Recipe, recipe_of_config
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.readers.formats.safe_json import load_json_file
from rlclinic.readers.state import RunState, read_state
from rlclinic.store.files import link_whole, write_whole

CONFIG, METRICS, LOG, STATUS, CHECKPOINTS, REPORT = (
    "config.json", "metrics.csv", "run.log", "status.json", "checkpoints", "report.md",
)  # fmt: skip
LAST = "@last"
# Kept free so that a full disk can still be written down in status.json and run.log; in bytes.
RESERVE_SIZE = 64 << 10
_RESERVE = ".reserve"


class RunFolder:
    """One run's files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metrics = MetricsFile(path / METRICS)

    @property
    def id(self) -> str:
        """The run's id: the name of its folder."""
        return self.path.name

    @property
    def checkpoints(self) -> Path:
        """Where checkpoints lie."""
        return self.path / CHECKPOINTS

    def recipe(self, trust: Iterable[str] = ()) -> Recipe:
        """What the run trains, from config.json. Of what it names only `trust` may be imported."""
        return recipe_of_config(_load(self.path / CONFIG), trust)

    def state(self) -> RunState | None:
        """What status.json says; None where there is none."""
        return read_state(self.path / STATUS)

    def set_state(self, state: RunState) -> None:
        """Replace status.json as a whole."""
        text = json.dumps(state.to_json(), indent=2) + "\n"
        try:
            write_whole(self.path / STATUS, text)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            (self.path / _RESERVE).unlink(missing_ok=True)
            write_whole(self.path / STATUS, text)

    def log(self, text: str) -> None:
        """Append lines to run.log, each with the time."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        lines = "".join(f"{stamp} {line}\n" for line in text.splitlines())
        self._append(lines)

    def log_traceback(self, text: str) -> None:
        """Append a traceback as Python prints it, so that readers know it for one."""
        self._append(text if text.endswith("\n") else text + "\n")

    def _append(self, text: str) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(self.path / LOG, flags, 0o644), "a", encoding="utf-8") as file:
            file.write(text)

    def reserve_space(self) -> None:
        """Put some bytes aside for the day the disk is full."""
        (self.path / _RESERVE).write_bytes(b"\0" * RESERVE_SIZE)

    def release_space(self) -> None:
        """Give the reserve back: at the end of a run, or when the disk is full."""
        (self.path / _RESERVE).unlink(missing_ok=True)


def create_folder(root: Path, recipe: Recipe, extra: Mapping[str, object]) -> RunFolder:
    """A new folder below the root, with its config.json; `@last` of the root points to it."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder = RunFolder(_fresh(root, recipe))
    except OSError as error:
        raise cannot_write(error, root) from error
    try:
        config = {"rlclinic_version": __version__, **recipe.to_config(), **extra}
        write_whole(folder.path / CONFIG, json.dumps(config, indent=2, allow_nan=False) + "\n")
        folder.reserve_space()
    except OSError as error:
        # A folder without its config is no run.
        shutil.rmtree(folder.path, ignore_errors=True)
        raise cannot_write(error, root) from error
    link_whole(root / LAST, folder.id)
    return folder


def open_folder(path: Path) -> RunFolder:
    """The folder of a run that `rlclinic train` wrote."""
    if not (path / CONFIG).is_file():
        raise UsageError("no config.json here", path=str(path), hint="name the folder of a run: runs/<id>")
    # A run has its id from its own folder, not from `@last` or `.`.
    return RunFolder(path.resolve() if path.is_symlink() or not path.name else path)


def check_own(folder: Path) -> None:
    """Refuse a folder to write into that holds a link, other than `@last` and its like, or a pipe: a run that
    `rlclinic train` made has none, and what is written through one lands elsewhere."""
    pending = [folder]
    while pending:
        for path in pending.pop().iterdir():
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                pending.append(path)
            elif not stat.S_ISREG(mode) and not (stat.S_ISLNK(mode) and _is_label(path)):
                raise UsageError(
                    "is a link or no regular file, which no run of `rlclinic train` holds: nothing is written here",
                    path=str(path),
                    hint="train its config anew: rlclinic train RUN",
                )


def _is_label(path: Path) -> bool:
    """Whether it is `@best` or its like, or what was to take its place when the process was killed."""
    target = path.readlink()
    return path.name.lstrip(".").startswith("@") and len(target.parts) == 1 and not (path.parent / target).is_symlink()


def cannot_write(error: OSError, path: Path) -> RlclinicError:
    """What to tell the user where the system refuses to write."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    other = "name another folder with --root, or make this one writable"
    hint = "free some space, then go on with --resume" if full else other
    return TrainingError(f"cannot be written: {error.strerror or error}", path=str(path), hint=hint)


def _fresh(root: Path, recipe: Recipe) -> Path:
    environment = re.sub(r"[^A-Za-z0-9.]+", "-", recipe.environment).strip("-.") or "env"
    stem = f"{environment}-{recipe.algorithm.lower()}-{time.strftime('%Y%m%d-%H%M%S')}"
    while True:
        path = root / f"{stem}-{secrets.token_hex(2)}"
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path


def _load(path: Path) -> dict[str, Any]:
    try:
        data = load_json_file(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {error}", path=str(path)) from error
    if not isinstance(data, dict):
        raise UsageError("is no JSON object", path=str(path))
    return data
