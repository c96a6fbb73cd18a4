"""Which runs lie below a root."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rlclinic.model.errors import RlclinicError, contained
from rlclinic.readers.place import Place, scan, single
from rlclinic.readers.registry import ROWS, Row, row_of
from rlclinic.readers.tree import Folder, walk

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunRef:
    """A run that was found but not read yet."""

    path: Path
    reader: str
    member: str = ""
    """Which run inside a file or folder that holds several."""
    whole: bool = True
    """Whether the files below the folder's subfolders belong to it."""
    fingerprint: tuple[tuple[str, int, int], ...] = ()

    @property
    def name(self) -> str:
        """How the run is named on the command line."""
        return f"{self.path}::{self.member}" if self.member else str(self.path)


def find(root: Path) -> list[RunRef]:
    """Every run below a root, by path."""
    return sorted(_runs(walk(root)), key=lambda ref: (str(ref.path), ref.member))


def place_of(ref: RunRef) -> Place:
    """The files of a found run."""
    if ref.path.is_file():
        return single(ref.path, ref.member)
    place = scan(ref.path)
    if ref.whole:
        return Place(place.root, place.entries, place.notes, ref.member, place.folders)
    owned = {name for name, _, _ in ref.fingerprint}
    entries = tuple(entry for entry in place.entries if entry.relative in owned or "/" not in entry.relative)
    return Place(place.root, entries, place.notes, ref.member, place.folders)


def ref_of_folder(path: Path) -> RunRef | None:
    """The folder itself as a run, where a reader claims it."""
    folder = walk(path)
    return next((ref for ref in _runs(folder) if ref.path == path), None)


def _runs(folder: Folder) -> Iterator[RunRef]:
    row = next((row for row in ROWS if row.claims(folder) and _looked(_confirmed, row, folder, True)), None)
    if row is not None and row.owns_subfolders:
        yield RunRef(folder.path, row.id, fingerprint=folder.fingerprint(deep=True))
        return
    below = [ref for child in folder.folders.values() for ref in _runs(child)]
    if row is None:
        yield from below
        return
    absorbed = _absorbed(row, below)
    names = {ref.path for ref in below if ref not in absorbed}
    yield from (ref for ref in below if ref not in absorbed)
    yield from _own(folder, row, names)


def _looked(look: Callable[[Row, Folder], T], row: Row, folder: Folder, otherwise: T) -> T:
    """What a look into the files finds; where it fails, reading the run will tell why."""
    try:
        with contained(folder.path):
            return look(row, folder)
    except RlclinicError:
        return otherwise


def _own(folder: Folder, row: Row, others: set[Path]) -> Iterator[RunRef]:
    """The folder's own run, or runs where it holds several."""
    own = [
        item
        for item in folder.fingerprint(deep=True)
        if not any((folder.path / item[0]).is_relative_to(other) for other in others)
    ]
    fingerprint = tuple(own)
    members: list[tuple[Path, str]] = _looked(_members, row, folder, [])
    if not members:
        yield RunRef(folder.path, row.id, whole=not others, fingerprint=fingerprint)
        return
    for path, member in members:
        yield RunRef(path, row.id, member, whole=not others, fingerprint=fingerprint)


def _members(row: Row, folder: Folder) -> list[tuple[Path, str]]:
    if row.id == "trackio":
        from rlclinic.readers.sources.trackio import members

        found = sorted(path for name in folder.files if (path := folder.path / name).suffix == ".db")
        named = [(path, members(path)) for path in found]
        return [(path, member if len(runs) > 1 else "") for path, runs in named for member in runs]
    events = [name for name in folder.files if "tfevents" in name]
    if row.id == "tensorboard" and len(events) > 1:
        from rlclinic.readers.parts.events import event_entries, groups

        place = scan(folder.path)
        own = [entry for entry in event_entries(place) if "/" not in entry.relative]
        found_groups = groups(own)
        return [(folder.path, group[0].name) for group in found_groups] if len(found_groups) > 1 else []
    return []


def _absorbed(row: Row, below: list[RunRef]) -> list[RunRef]:
    """SB3 writes its event files into one subfolder (PPO_1) beside progress.csv: they are one run."""
    if row.id != "sb3":
        return []
    events = [ref for ref in below if ref.reader == "tensorboard"]
    evaluations = [ref for ref in below if ref.reader == "sb3" and _only_evaluations(ref)]
    return (events if len(events) == 1 else []) + (evaluations if len(evaluations) == 1 else [])


def _only_evaluations(ref: RunRef) -> bool:
    names = {os.path.basename(name) for name, _, _ in ref.fingerprint}  # noqa: PTH119
    return "evaluations.npz" in names and not names & {"progress.csv", "monitor.csv"}


def _confirmed(row: Row, folder: Folder) -> bool:
    """A look into the files where their names alone prove little."""
    if row.id == "trackio":
        from rlclinic.readers.sources.trackio import is_trackio

        return any(is_trackio(folder.path / name) for name in folder.files if name.endswith(".db"))
    if row.id in {"tables", "console"}:
        from rlclinic.readers.sniff import is_metric_file

        return any(is_metric_file(folder.path / name) for name in list(folder.files)[:50])
    return True


def reader_of_file(path: Path) -> Row:
    """The reader of a single file that the user names."""
    if path.suffix == ".wandb":
        return row_of("wandb")
    from rlclinic.readers.sources.trackio import is_trackio

    return row_of("trackio") if is_trackio(path) else row_of("tensorboard")
