"""A planned edit written to its file: backed up, written beside, renamed, and never out of the project."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from rlclinic.prescriptions.edit.edits import Refused
from rlclinic.prescriptions.edit.plan import Plan
from rlclinic.readers.project import ROOT_SIGNS
from rlclinic.store.files import write_whole

BACKUP = ".bak"
# Backups of one file; whoever has more should use version control.
MAX_BACKUPS = 100


def write_file(plan: Plan) -> Path:
    """Write the new text and return the backup of the old one."""
    target = _target(plan.file)
    try:
        if target.read_bytes() != plan.before.encode("utf-8"):
            raise Refused("the file changed while the edit was made", path=str(plan.file), hint="try again")
        backup = _back_up(target, plan.before)
        write_whole(target, plan.after, like=target)
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


def _back_up(target: Path, text: str) -> Path:
    names = (target.name + BACKUP + (f".{number}" if number else "") for number in range(MAX_BACKUPS))
    # An older backup is never overwritten.
    backup = next((path for name in names if not os.path.lexists(path := target.with_name(name))), None)
    if backup is None:
        told = f"{MAX_BACKUPS} backups lie beside the file"
        raise Refused(told, path=str(target), hint="remove those you do not need")
    write_whole(backup, text, like=target)
    shutil.copystat(target, backup)
    return backup
