"""Hydra jobs near a run without a config: a trainer that logs elsewhere leaves no more than its config in them.

verl starts a job in `outputs/DATE/TIME`, prints to a file that the user chose and logs to `wandb/run-DATE_TIME-ID`. The
name of the experiment tells which of them are one run; where it does not, the times at which they started do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.no_links import listing, read_file, real, status
from rlclinic.readers.parts.config_files import read_config, read_overrides
from rlclinic.readers.place import Entry
from rlclinic.readers.project import folders_above, lies_at
from rlclinic.readers.scripts.near import has_config

# Where Hydra starts jobs unless told otherwise, how deep they lie there, and how many are looked at.
FOLDERS = {"outputs": 2, "multirun": 3}
MAX_JOBS = 200
MAX_BYTES = 512 << 10
# Seconds after the start of a job in which its run begins to log: workers start and models are loaded first. A file may
# be named after a time just before it.
LATEST, EARLIEST = 3600.0, -120.0
# Lines of a log that may tell when it began.
MARK_LINES = 100
_TIME = re.compile(r"(20\d\d)-?([01]\d)-?([0-3]\d)[-_T /]([0-2]\d)[-:]?([0-5]\d)[-:]?([0-5]\d)(?!\d)")
_EXPERIMENT = re.compile(rb"^[ \t]*+(?:experiment_name|run_name|exp_name):[ \t]*+['\"]?([\w.-]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Job:
    """A job's folder, when it was started and what its experiment is called."""

    folder: Path
    started: datetime | None
    experiment: str


def ask_near_jobs(draft: Draft) -> None:
    """Take the config of the job that a run without one belongs to, and say by what that is known."""
    if not draft.metric_names or has_config(draft):
        return
    own = draft.place.folder.absolute()
    jobs = next((found for folder in folders_above(own) if (found := list(_jobs(folder)))), [])
    named = [job for job in jobs if job.experiment and job.experiment in _names(draft)]
    began, fitting = _began(draft), named or jobs
    why = f"is called {named[0].experiment} as the run is" if named else "is the only one here"
    if len(fitting) > 1 or (began is not None and not named):
        after = {job: (began - job.started).total_seconds() for job in fitting if began and job.started}
        fitting = [job for job in after if EARLIEST <= after[job] <= LATEST]
        fitting = sorted(fitting, key=lambda job: abs(after[job]))[:1]
        why = "started just before it" if fitting else ""
    if len(fitting) != 1:
        return
    shown = os.path.relpath(fitting[0].folder, own)
    for name, read in (("overrides.yaml", read_overrides), ("config.yaml", read_config)):
        entry = _entry(fitting[0].folder / ".hydra" / name, f"{shown}/.hydra/{name}")
        if entry is not None:
            read(draft, entry)
    draft.note(f"settings are those of the Hydra job {shown}, which {why}; --config FILE names another")


def _jobs(folder: Path) -> Iterator[Job]:
    """The jobs that were started from a folder."""
    for name, depth in FOLDERS.items():
        folders = [folder / name] if lies_at(folder, name) else []
        for _ in range(depth):
            folders = [below for one in folders for below in _below(one)]
        for job in islice(folders, MAX_JOBS):
            try:
                config = read_file(job / ".hydra" / "config.yaml", MAX_BYTES)
            except (FormatError, OSError):
                continue
            found = _EXPERIMENT.search(config)
            yield Job(job, _time_in("/".join(job.parts[-depth:])), found[1].decode() if found else "")


def _below(folder: Path) -> list[Path]:
    """The folders in a folder, the last first."""
    try:
        with listing(real(folder)) as entries:
            names = [entry.name for entry in islice(entries, MAX_JOBS) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(names, reverse=True)]


def _entry(path: Path, shown: str) -> Entry | None:
    try:
        at = real(path)
        found = status(at)
    except OSError:
        return None
    return Entry(at, shown, found.st_size, found.st_mtime)


def _names(draft: Draft) -> set[str]:
    """How the run and its files are called."""
    files = [Path(name) for name in draft.files]
    return {draft.name, draft.place.folder.name, *draft.labels, *(file.stem for file in files)}


def _began(draft: Draft) -> datetime | None:
    """When the run began: by its name, by those of its files, by the first lines of its logs."""
    texts = (draft.place.folder.name, *draft.files, *draft.log_marks[:MARK_LINES])
    return next((time for text in texts if (time := _time_in(text)) is not None), None)


def _time_in(text: str) -> datetime | None:
    found = _TIME.search(text)
    try:
        return datetime(*map(int, found.groups())) if found else None  # type: ignore[arg-type]
    except ValueError:
        return None
