"""Read a run: by path, as a found reference, or from files that the user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from pathlib import Path

from rlclinic.model.errors import NothingReadable, RunReadError, UsageError, contained
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run
from rlclinic.readers.assemble import assemble
from rlclinic.readers.discover import RunRef, find, place_of, reader_of_file, ref_of_folder, split_name
from rlclinic.readers.draft import Draft
from rlclinic.readers.mapping import apply_map
from rlclinic.readers.near_jobs import ask_near_jobs
from rlclinic.readers.neighbours import ask_neighbours
from rlclinic.readers.parts.config_files import config_entries, read_config
from rlclinic.readers.parts.logs import PATTERNS, read_log
from rlclinic.readers.place import Place, beside, named, scan, single
from rlclinic.readers.reading import one_reading
from rlclinic.readers.registry import SourceSpec, source_of
from rlclinic.readers.scripts.load import CODE
from rlclinic.readers.scripts.merge import merge_named
from rlclinic.readers.scripts.near import ask_near_scripts
from rlclinic.readers.sources import files
from rlclinic.readers.transitions.observed import read_observed

MAX_LOOKED_AT = 1000
# Where Weights & Biases keeps what a run prints, in `files/` of the run's folder.
CONSOLE = "output.log"
HINT = "see `rlclinic runs ROOT` for what can be read below a folder"


@dataclass(frozen=True, slots=True)
class Told:
    """What the user says of a run beside where it lies."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Canonical metric names to the names in the log, for logs whose names are not known."""
    configs: Sequence[str | Path] = ()
    """Training scripts or configs, which count where the run's own files say nothing; scripts are never executed."""
    environment: str = ""
    algorithm: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The same as options of the command line."""
        named = [("--config", str(config)) for config in self.configs]
        named += [("--env", self.environment), ("--algo", self.algorithm)]
        return tuple(word for option, value in named if value for word in (option, value))


NOTHING_TOLD = Told()


def read(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    configs: Sequence[str | Path] = (),
    environment: str = "",
    algorithm: str = "",
) -> Run:
    """Read the run at a path: a run folder, one of its files, or a folder that holds exactly one run.

    What the user says of it is as in `Told`. Only errors of `model.errors` are raised, by the other functions here as
    well.
    """
    with contained(path), one_reading():
        return _read_named(str(path), Told(columns or {}, configs, environment, algorithm))


def _read_named(text: str, told: Told) -> Run:
    if text.startswith("wandb://"):
        from rlclinic.readers.sources.wandb_api import read_remote

        return read_remote(text)
    name, member = split_name(text)
    place = Path(name)
    if not place.exists():
        raise _missing(place)
    if place.is_file():
        if (tracked := _tracked(place)) is not None:
            return read_ref(tracked, told)
        file = single(place, member)
        row = reader_of_file(file.entries[0])
        if row.id == "hf-trainer":
            # The history alone is named, its config lies beside it.
            file = replace(file, entries=(*file.entries, *config_entries(beside(place))))
        return _read(file, row, told)
    own = ref_of_folder(place)
    refs = [own] if own is not None and not member else find(place)
    if member:
        refs = [ref for ref in refs if ref.member == member]
    if not refs:
        return _read_log_alone(place, told)
    if len(refs) > 1:
        shown = ", ".join(ref.name for ref in refs[:3])
        raise UsageError(
            f"the folder holds {len(refs)} runs: {shown}{', ...' if len(refs) > 3 else ''}",
            path=str(place),
            hint="name one of them, or list them with `rlclinic runs`",
        )
    return read_ref(refs[0], told)


def _tracked(file: Path) -> RunRef | None:
    """The run of a tracker whose console text a file is: its config and history lie in the folder above."""
    folder = file.absolute().parent
    if file.name != CONSOLE or folder.name != "files":
        return None
    found = ref_of_folder(folder.parent)
    return found if found is not None and found.reader == "wandb" else None


def _read_log_alone(folder: Path, told: Told) -> Run:
    """A folder in which no metric is found but a log lies: what it says of errors and of its end is still read."""
    logs = [entry for entry in scan(folder).match(*PATTERNS) if entry.size and not entry.name.endswith(".ipynb")]
    if not logs:
        raise _nothing(folder)
    file = single(folder / max(logs, key=lambda entry: entry.size).relative)
    return _read(file, reader_of_file(file.entries[0]), told)


def read_ref(ref: RunRef, told: Told = NOTHING_TOLD) -> Run:
    """Read a run that was found below a root."""
    with contained(ref.name), one_reading():
        return _read(place_of(ref), source_of(ref.reader), told)


def read_place(place: Place, reader: str) -> Run:
    """Read the files of a place with a reader: for whoever keeps other bytes of them than the disk has."""
    with contained(place.root), one_reading():
        return _read(place, source_of(reader), NOTHING_TOLD)


def read_files(
    *,
    metrics: Sequence[str | Path] = (),
    logs: Sequence[str | Path] = (),
    configs: Sequence[str | Path] = (),
    columns: Mapping[str, str] | None = None,
    environment: str = "",
    algorithm: str = "",
) -> Run:
    """Read several files as one run."""
    paths = tuple(Path(path) for path in (*metrics, *logs, *configs))
    if not paths:
        raise UsageError("no file is named", hint="give at least one of metrics, logs and configs")
    for path in paths:
        if not path.is_file():
            raise _missing(path)
    with contained(paths[0]), one_reading():
        by_path = {path: named(path) for path in paths}
        draft = Draft(Place(paths[0], tuple(by_path.values())), reader="files")
        scripts = [config for config in configs if str(config).endswith(CODE)]
        for config in configs:
            if config not in scripts:
                read_config(draft, by_path[Path(config)])
        draft.place = Place(paths[0], tuple(by_path[path] for path in dict.fromkeys(map(Path, metrics))))
        files.read(draft)
        for log in logs:
            read_log(draft, by_path[Path(log)])
        return _finish(draft, Told(columns or {}, scripts, environment, algorithm))


def _read(place: Place, row: SourceSpec, told: Told) -> Run:
    draft = Draft(place, reader=row.id)
    row.read(draft)
    return _finish(draft, told)


def _finish(draft: Draft, told: Told) -> Run:
    if told.columns:
        apply_map(draft, told.columns)
    # What the user says comes before what files say.
    draft.environment, draft.algorithm = told.environment or draft.environment, told.algorithm or draft.algorithm
    for config in told.configs:
        merge_named(draft, str(config))
    if not told.configs and draft.files and draft.reader != "files":
        ask_near_jobs(draft)
        ask_near_scripts(draft)
    if not draft.metric_names and not draft.framework:
        ask_neighbours(draft)
    read_observed(draft)
    if not draft.files:
        raise _nothing(draft.place.root, draft.notes)
    return replace(assemble(draft), given=told.options)


def _missing(path: Path) -> RunReadError:
    return RunReadError("no such file or folder", path=str(path), hint="check the path; " + HINT)


def _nothing(path: Path, notes: Sequence[str] = ()) -> NothingReadable:
    notes = (*notes, *_pickled(path))
    detail = f" ({'; '.join(notes[:3])})" if notes else ""
    kind = "folder" if path.is_dir() else "file"
    return NothingReadable(
        f"nothing in this {kind} is a run that rlclinic can read{detail}",
        path=str(path),
        hint="point at the folder that holds the event files, CSV or logs of the run, or name them with "
        "--metrics, --log and --config",
    )


def _pickled(path: Path) -> list[str]:
    """A word about data that are never opened."""
    files = islice(path.iterdir(), MAX_LOOKED_AT) if path.is_dir() else [path]
    names = sorted(file.name for file in files if file.suffix in {".pkl", ".pickle", ".p"})
    return [f"{names[0]} is pickled and never opened: save the numbers as .csv, .json or .npy"] if names else []
