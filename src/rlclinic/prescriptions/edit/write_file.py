"""A planned edit written to its file: backed up, written beside, renamed, and never out of the project."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from rlclinic.prescriptions.edit.edits import Refused
from rlclinic.prescriptions.edit.plan import Plan
from rlclinic.prescriptions.edit.source_file import ROOT_SIGNS

BACKUP = ".bak"
# Backups of one file; whoever has more should use version control.
MAX_BACKUPS = 100


def write_file(plan: Plan) -> Path:
    """Write the new text and return the backup of the old one."""
    target = _target(plan.file)
    try:
        if target.read_bytes() != plan.before.encode("utf-8"):
            raise Refused("the file changed while the edit was made", path=str(plan.file), hint="try again")
        backup = _back_up(target)
        _replace(target, plan.after)
    except OSError as error:
        raise Refused(f"cannot be written: {error.strerror}", path=str(plan.file)) from error
    return backup


def _target(file: Path) -> Path:
    """The real file. A link is followed only where it stays inside the project."""
    target = file.resolve()
    root = _root(file.absolute().parent).resolve()
    linked = file.is_symlink() or target.parent != file.parent.absolute()
    if linked and not target.is_relative_to(root):
        raise Refused(f"leads out of the project, to {target}", path=str(file), hint="name the real file with --config")
    return target


def _root(folder: Path) -> Path:
    """The folder of the project: the nearest with a sign of one, else the file's own."""
    for place in (folder, *folder.parents):
        if any((place / sign).exists() for sign in ROOT_SIGNS):
            return place
    return folder


def _back_up(target: Path) -> Path:
    for number in range(MAX_BACKUPS):
        backup = target.with_name(target.name + BACKUP + (f".{number}" if number else ""))
        try:
            # Exclusive creation: an older backup is never overwritten.
            with backup.open("xb"):
                pass
        except FileExistsError:
            continue
        shutil.copy2(target, backup)
        return backup
    raise Refused(f"{MAX_BACKUPS} backups lie beside the file", path=str(target), hint="remove those you do not need")


def _replace(target: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=target.name, suffix=".part", dir=target.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
