"""Which file the user would edit: the source of a run's config, not the copy that the run keeps of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run
from rlclinic.prescriptions.edit.document import FORMATS, document_data
from rlclinic.prescriptions.edit.edits import Path as KeyPath
from rlclinic.prescriptions.edit.edits import Refused, value_at
from rlclinic.prescriptions.syntax import TRACKERS
from rlclinic.readers.discover import split_name
from rlclinic.readers.no_links import is_file, read_file
from rlclinic.readers.project import ROOT_SIGNS, folders_above

# Bytes of a config.
MAX_BYTES = 2 << 20
SHELL = (".sh", ".bash", ".slurm", ".sbatch")

# Files that a framework writes itself into its run folder: records, not sources.
RECORDS = {
    "gymnasium-solver": ("config.json",),
    "rlclinic": ("config.json",),
    "sb3-zoo": ("config.yml", "args.yml"),
    "rllib": ("params.json", "result.json", "progress.csv"),
    "rsl_rl": ("agent.yaml", "env.yaml"),
    "skrl": ("agent.yaml", "env.yaml"),
    "spinningup": ("config.json",),
    "sample-factory": ("config.json", "cfg.json"),
    "d3rlpy": ("params.json",),
    "mlagents": ("configuration.yaml",),
    "trl": ("trainer_state.json", "config.json"),
}
HINT = "name the file that you edit with --config FILE"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to edit."""

    file: Path
    section: KeyPath = ()
    prefix: str = ""
    """What the file leaves out of the keys, because the file as a whole stands for it."""
    note: str = ""


def find_source(run: Run, keys: tuple[str, ...], config: str = "") -> Source:
    """The file that holds the keys; Refused with the reason where only a record of it is known."""
    if config:
        name, section = split_name(config)
        file = Path(name)
        if not file.is_file():
            raise Refused("no such file", path=name, hint="check the path given to --config")
        return Source(file, tuple(section.split(".")) if section else ())
    if run.source == "hydra":
        return _inside_project(run, _hydra(run, keys), named_by_run=True)
    if run.framework == "gymnasium-solver":
        return _inside_project(run, _solver(run))
    if run.framework == "sb3-zoo":
        return _inside_project(run, _zoo(run))
    return _origin(run, keys)


def _inside_project(run: Run, source: Source, *, named_by_run: bool = False) -> Source:
    """A run's files may name any path; what lies outside its project is only edited when the user names it."""
    top = list(ancestors(run))[-1].resolve()
    is_project = any((top / sign).exists() for sign in ROOT_SIGNS)
    if named_by_run and not is_project:
        # Without the mark of a project only what the user works in is his: the current folder, if the run lies there.
        here = Path.cwd()
        top = here if folder_of(run).resolve().is_relative_to(here) else folder_of(run).resolve()
    if not source.file.resolve().is_relative_to(top):
        raise Refused(f"lies outside of {top}", path=str(source.file), hint=HINT)
    return source


def folder_of(run: Run) -> Path:
    """The run's own folder."""
    return run.location if run.location.is_dir() else run.location.parent


def ancestors(run: Run) -> Iterator[Path]:
    """The folders above a run, nearest first, at most up to the root of its project."""
    return folders_above(folder_of(run))


def _solver(run: Run) -> Source:
    for folder in ancestors(run):
        configs = folder / "config" / "environments"
        found = [file for file in sorted(configs.glob("*.y*ml")) if _is_of(file, run.environment)]
        if len(found) == 1:
            return Source(found[0])
        if found:
            names = ", ".join(file.name for file in found)
            raise Refused(f"{names} are all of {run.environment}", path=str(configs), hint=HINT)
    raise _unknown(
        run,
        "config.json is the run's own record; the config/environments/*.yaml it was made from is not beside the run",
    )


def _is_of(file: Path, environment: str) -> bool:
    if file.stem == environment.replace("/", "-"):
        return True
    try:
        data = document_data(read_file(file).decode("utf-8"), file.suffix)
    except (OSError, UnicodeDecodeError, Refused):
        return False
    places: list[KeyPath] = [("env_id",), ("_base", "env_id")]
    return bool(environment) and environment in [value_at(data, place) for place in places]


def _zoo(run: Run) -> Source:
    named = run.config.native.get("conf_file")
    name = str(named.value) if named is not None and named.value else ""
    options = [name] if name else [f"hyperparams/{run.algorithm.lower()}.yml"]
    if not name or Path(name).suffix in (*FORMATS, ".py"):
        for folder in ancestors(run):
            for option in options:
                if is_file(folder / option):
                    return Source(folder / option)
    raise _unknown(
        run, f"config.yml is the run's own record; the zoo's {options[0]} it was made from is not beside the run"
    )


def _hydra(run: Run, keys: tuple[str, ...]) -> Source:
    typed = [setting for key in keys if (setting := run.config.native.get(key)) is not None]
    if any(setting.origin is not None and "overrides" in setting.origin.file for setting in typed):
        raise Refused(
            f"{', '.join(keys)} was given on the command line, so no file decides it",
            path=run.path,
            hint="change the command",
        )
    record = folder_of(run) / ".hydra" / "hydra.yaml"
    try:
        data = document_data(read_file(record).decode("utf-8"), ".yaml")
    except (OSError, UnicodeDecodeError, Refused):
        data = None
    sources = value_at(data, ("hydra", "runtime", "config_sources"))
    name = value_at(data, ("hydra", "job", "config_name"))
    choices = value_at(data, ("hydra", "runtime", "choices"))
    for entry in sources if isinstance(sources, list) else []:
        if value_at(entry, ("schema",)) != "file" or not value_at(entry, ("path",)):
            continue
        folder = Path(str(value_at(entry, ("path",))))
        group = keys[0].partition(".")[0]
        choice = choices.get(group) if isinstance(choices, dict) else None
        grouped = folder / group / f"{choice}.yaml"
        if choice and is_file(grouped):
            return Source(grouped, prefix=f"{group}.")
        if is_file(folder / f"{name}.yaml"):
            return Source(folder / f"{name}.yaml")
    raise _unknown(
        run, ".hydra/config.yaml is the run's own record; the config that Hydra composed it from was not found"
    )


def _origin(run: Run, keys: tuple[str, ...]) -> Source:
    """The file in which the run's reader found the values."""
    settings = [setting for key in keys if (setting := run.config.native.get(key)) is not None]
    files = {setting.origin.file for setting in settings if setting.origin is not None}
    if not files:
        files = {item.origin.file for item in run.config.native.values() if item.origin is not None}
    if len(files) != 1:
        raise _unknown(run, "no config file of this run is known")
    name = files.pop()
    file = folder_of(run) / name
    if file.suffix not in (*FORMATS, *SHELL, ".py") or run.source in TRACKERS:
        raise _unknown(run, f"the values were read from {name}, a record of the run and not a config")
    if file.name in RECORDS.get(run.framework, ()):
        raise _unknown(run, f"{name} is the run's own record, not the config it was made from")
    if not is_file(file):
        raise _unknown(run, f"{name} is not there any more")
    if name.startswith(".."):
        return Source(file)
    return Source(
        file, note=f"{name} lies in the run's folder; if a script writes it, change the script's config instead"
    )


def _unknown(run: Run, reason: str) -> Refused:
    return Refused(reason, path=run.path, hint=HINT)
