"""Which runs lie below a root."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import nsmallest
from pathlib import Path
from typing import TypeVar

from rlclinic.model.errors import RlclinicError, UsageError, contained
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.place import Entry, Place, entry_in, importance, scan, single
from rlclinic.readers.reading import parsed_once
from rlclinic.readers.registry import SOURCES, SourceSpec, source_of
from rlclinic.readers.tree import MAX_LISTED, Folder, walk
from rlclinic.reference.algorithms import algorithm_in

# Files of a folder that are looked into to see whether one holds metrics.
MOST_SNIFFED = 50
T = TypeVar("T")
# Tables that are one training each: seed_0.csv, run-3.csv, trial2.jsonl.
_NUMBERED = re.compile(r"(?:seed|run|trial|rep)[-_ ]?\d+[^/]*\.(?:csv|tsv|jsonl)$", re.IGNORECASE)
# Logs of the processes of one training.
_RANK = re.compile(r"(?:rank|worker|node|gpu)[-_ ]?\d", re.IGNORECASE)
PARSED = "monitor_outputs"
_TABLES = (".csv", ".tsv", ".jsonl")
MEMBER = "::"
"""Separates a path from the name of what is meant inside it: a run of several, a section of a config."""


def split_name(name: str, exists: Callable[[str], bool] = os.path.exists) -> tuple[str, str]:
    """The path and the member that a name means. A path may hold `::` itself: the longest that exists wins."""
    plain = name
    while not exists(plain) and MEMBER in plain:
        plain = plain.rpartition(MEMBER)[0]
    return (plain, name[len(plain) + len(MEMBER) :])


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
    at: str = ""
    """Where it really lay when it was found: what takes its place later is not read."""

    @property
    def name(self) -> str:
        """How the run is named on the command line."""
        return f"{self.path}{MEMBER}{self.member}" if self.member else str(self.path)


def find(root: Path, most: int = MAX_LISTED) -> list[RunRef]:
    """Every run below a root, by path; UsageError where more than `most` files lie below it."""
    folder = walk(root, most=most)
    if folder.is_cut and most < MAX_LISTED:
        # A run may lie beside its data: its own files are known, and nothing below them is opened.
        if own := list(_runs(replace(folder, folders={}))):
            return own
        raise UsageError(
            f"more than {most:,} files lie below this folder, too many to search for runs",
            path=str(root),
            hint="name a folder nearer to the runs",
        )
    found = sorted(_runs(folder), key=lambda ref: (str(ref.path), ref.member))
    # What a Hydra job trained may be logged elsewhere: its folder holds no more than a config of that run.
    return [ref for ref in found if not _only_config(ref)] or found


def place_of(ref: RunRef) -> Place:
    """The files of a found run."""
    if ref.path.is_file():
        return single(ref.path, ref.member, ref.at)
    place = scan(ref.path, ref.at)
    if ref.whole:
        return Place(place.root, place.entries, place.notes, ref.member)
    owned = {name for name, _, _ in ref.fingerprint}
    entries = tuple(entry for entry in place.entries if entry.relative in owned or "/" not in entry.relative)
    return Place(place.root, entries, place.notes, ref.member)


def ref_of_folder(path: Path) -> RunRef | None:
    """The folder itself as a run, where a reader claims it; of several in it the reader takes the longest."""
    folder = walk(path)
    found = [ref for ref in _runs(folder) if ref.path == path]
    return replace(found[0], member="") if found else None


def _runs(folder: Folder) -> Iterator[RunRef]:
    row = next((row for row in SOURCES if row.claims(folder) and _looked(_confirmed, row, folder, True)), None)
    if row is not None and row.owns_subfolders:
        yield from _own(folder, row, set())
        return
    below = [ref for child in folder.folders.values() for ref in _runs(child)]
    if row is None:
        yield from below
        return
    absorbed = _absorbed(row, below, folder)
    names = {ref.path for ref in below if ref not in absorbed}
    yield from (ref for ref in below if ref not in absorbed)
    yield from _own(folder, row, names)


def _looked(look: Callable[[SourceSpec, Folder], T], row: SourceSpec, folder: Folder, otherwise: T) -> T:
    """What a look into the files finds; where it fails, reading the run will tell why."""
    try:
        with contained(folder.path):
            return look(row, folder)
    except RlclinicError:
        return otherwise


def _own(folder: Folder, row: SourceSpec, others: set[Path]) -> Iterator[RunRef]:
    """The folder's own run, or runs where it holds several."""
    theirs = tuple(f"{other.relative_to(folder.path).as_posix()}/" for other in others)
    fingerprint = tuple(item for item in folder.fingerprint(deep=True) if not f"{item[0]}/".startswith(theirs))
    members: list[tuple[str, str]] = _looked(_members, row, folder, [])
    if not members:
        yield RunRef(folder.path, row.id, whole=not others, fingerprint=fingerprint, at=folder.real)
        return
    for file, member in members:
        path, at = (folder.path / file, entry_in(folder, file).path) if file else (folder.path, folder.real)
        yield RunRef(path, row.id, member, whole=not others, fingerprint=fingerprint, at=at)


def _members(row: SourceSpec, folder: Folder) -> list[tuple[str, str]]:
    """The file, none where it is the whole folder, and the name in it of each of several runs."""
    if row.id == "trackio":
        from rlclinic.readers.sources.trackio import members

        found = sorted(name for name in folder.files if name.endswith(".db"))
        named = [(name, members(entry_in(folder, name))) for name in found]
        return [(name, member if len(runs) > 1 else "") for name, runs in named for member in runs]
    if row.id == "home-made":
        from rlclinic.readers.sources.home_made import members as algorithms

        found = [name for name in sorted(folder.files) if name.endswith(".json")]
        return [(name, member) for name in found for member in parsed_once(algorithms, entry_in(folder, name))]
    if row.id in {"tables", "json-tables", "console"}:
        return [(name, "") for name in _separate_files(row, folder)]
    if row.id in {"tensorboard", "rl_games"}:
        from rlclinic.readers.parts.events import event_entries, groups

        below = "summaries/" if row.id == "rl_games" else ""
        own = [entry for entry in event_entries(scan(folder.path, folder.real)) if entry.relative == below + entry.name]
        found_groups = groups(own) if len(own) > 1 else []
        return [("", group[0].name) for group in found_groups] if len(found_groups) > 1 else []
    return []


def _separate_files(row: SourceSpec, folder: Folder) -> list[str]:
    """Files of one folder that are a training each: tables of numbered seeds, of different algorithms or with other
    returns for the same steps, logs of one JSON object, consoles that print other values for the same step."""
    if row.id == "tables":
        found = sorted(name for name in folder.files if _NUMBERED.search(name))
        named = {name: algorithm_in(name) for name in folder.files if name.endswith(_TABLES)}
        if not found and len(set(filter(None, named.values()))) > 1:
            found = sorted(name for name, algorithm in named.items() if algorithm)
        if not found and len(tables := sorted(name for name in named if name.endswith(_TABLES[:2]))) > 1:
            from rlclinic.readers.sniff import rival_tables

            found = rival_tables([entry_in(folder, name) for name in tables[:MOST_SNIFFED]])
    elif row.id == "console":
        from rlclinic.readers.sniff import LOGS, contradict, head_rows

        logs = sorted(name for name in folder.files if name.endswith(LOGS) and not _RANK.search(name))[:MOST_SNIFFED]
        heads = {name: rows for name in logs if (rows := head_rows(entry_in(folder, name))) is not None}
        found = list(heads) if contradict(list(heads.values())) else []
    else:
        from rlclinic.readers.sources.json_tables import is_json_table

        found = sorted(name for name in folder.files if row.has(name) and is_json_table(entry_in(folder, name)))
    return found if len(found) > 1 else []


def _absorbed(row: SourceSpec, below: list[RunRef], folder: Folder) -> list[RunRef]:
    """SB3 writes event files into one subfolder (PPO_1) beside progress.csv, evaluations beside its console."""
    if row.id == "console" and len([name for name in folder.files if name.endswith(".log")]) == 1:
        # What was parsed from a log, beside it.
        parsed = [ref for ref in below if ref.path.name == PARSED]
        if parsed:
            return parsed
    if row.id == "json-tables":
        # tensorboardX exports its event files, one folder for each metric, as one JSON file.
        return [ref for ref in below if ref.reader == "tensorboard"]
    if row.id not in {"sb3", "console"}:
        return []
    events = [ref for ref in below if ref.reader == "tensorboard"]
    evaluations = [ref for ref in below if ref.reader == "sb3" and _only_evaluations(ref)]
    return (events if len(events) == 1 and row.id == "sb3" else []) + (evaluations if len(evaluations) == 1 else [])


def _only_config(ref: RunRef) -> bool:
    return ref.reader == "hydra" and not any(size for name, size, _ in ref.fingerprint if "hydra/" not in name)


def _only_evaluations(ref: RunRef) -> bool:
    names = {os.path.basename(name) for name, _, _ in ref.fingerprint}  # noqa: PTH119
    return "evaluations.npz" in names and not names & {"progress.csv", "monitor.csv"}


def _confirmed(row: SourceSpec, folder: Folder) -> bool:
    """A look into the files where their names alone prove little."""
    if row.id == "trackio":
        from rlclinic.readers.sources.trackio import is_trackio

        return any(parsed_once(is_trackio, entry_in(folder, name)) for name in folder.files if name.endswith(".db"))
    if row.id == "json-tables":
        from rlclinic.readers.sources.json_tables import is_json_table

        return any(parsed_once(is_json_table, entry_in(folder, name)) for name in folder.files if row.has(name))
    if row.id == "home-made":
        from rlclinic.readers.sources.home_made import has_returns

        named = nsmallest(MOST_SNIFFED, filter(row.has, folder.files), key=importance)
        return any(parsed_once(has_returns, entry_in(folder, name)) for name in named)
    if row.id in {"tables", "console"}:
        from rlclinic.readers.sniff import is_metric_file

        likely = nsmallest(MOST_SNIFFED, folder.files, key=importance)
        return any(is_metric_file(entry_in(folder, name)) for name in likely)
    return True


def reader_of_file(entry: Entry) -> SourceSpec:
    """The reader of a single file that the user names."""
    if entry.name.endswith(".wandb"):
        return source_of("wandb")
    from rlclinic.readers.sources.json_tables import is_json_table
    from rlclinic.readers.sources.trackio import is_trackio

    if entry.name == "trainer_state.json":
        return source_of("hf-trainer")
    if entry.name.endswith((".json", ".npz", ".npy")):
        from rlclinic.readers.sources.home_made import has_returns

        columns = entry.name.endswith(".json") and parsed_once(is_json_table, entry)
        if columns and source_of("json-tables").has(entry.name):
            return source_of("json-tables")
        if parsed_once(has_returns, entry):
            return source_of("home-made")
        if columns:
            return source_of("json-tables")
    return source_of("trackio") if parsed_once(is_trackio, entry) else source_of("tensorboard")
