"""Training scripts near a run without a config: used where one clearly made the run, else offered by name."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePath

from rlclinic.readers.configs.normalise import meaning, says_more
from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.identify import Tables, identify_framework
from rlclinic.readers.no_links import inside, listing, real, status
from rlclinic.readers.project import folders_above, is_root, lies_at
from rlclinic.readers.scripts.load import CODE, load_script
from rlclinic.readers.scripts.merge import (
    Identity,
    are_related,
    differs,
    environments,
    given,
    identity_of,
    logged_rate,
    merge,
)
from rlclinic.readers.scripts.script import Script
from rlclinic.reference.algorithms import algorithm_name

# Scripts that are read, entries of a folder that are looked at, and scripts that are offered.
MAX_SCRIPTS = 24
MAX_ENTRIES = 2_000
MAX_OFFERED = 3
# Folders that are looked into where no repository marks the project: the run's own and two above.
WITHOUT_ROOT = 3
# Settings that say what was trained rather than how: a run that has no others has no config.
IDENTITY = frozenset({"env_id", "algorithm", "seed", "device", "framework_version", "threshold", "n_envs"})

# The folder of rl-zoo's tables of settings by environment, and how one may be called outside of it.
TABLES = "hyperparams"
# Folders of a project in which what starts a training lies.
LAUNCHED_FROM = (TABLES, "scripts")

# Files of many projects that train nothing.
_TEST = re.compile(r"test_.*|.*_test\.py|conftest\.py|setup\.py")


def ask_near_scripts(draft: Draft) -> None:
    """Take the settings of the script that made a run without a config, or name the scripts that may have."""
    if not draft.metric_names or has_config(draft):
        return
    files = list(islice(_files(draft.place.folder), MAX_SCRIPTS))
    if not files:
        return
    own = identity_of(draft)
    if has_config(draft, own.algorithm):
        return
    trainers = [(path, script) for path, script in _scripts(files, draft, own) if script.trains]
    fitting = [(path, script) for path, script in trainers if _agreement(script, own, draft) is not False]
    logging = [(path, script) for path, script in fitting if _logs_here(script, path, draft.place.folder)]
    # A notebook that holds the run's log, and the program that the run recorded, are its own.
    recorded = {*draft.files, PurePath(draft.program.replace("\\", "/")).name}
    made_it = [(path, script) for path, script in fitting if path.name in recorded]
    clear = next((found for found in (made_it, logging) if len(found) == 1), fitting if len(trainers) == 1 else [])
    if len(clear) == 1 and (clear is made_it or _agreement(clear[0][1], own, draft)):
        path, script = clear[0]
        shown = os.path.relpath(path, draft.place.folder)
        if merge(draft, script, path, own, is_named=False):
            why = "is the only script here that trains" if clear is fitting else "logs into this folder"
            why = "is what the run names" if clear is made_it else why
            draft.note(f"settings are those of {shown}, which fits the run and {why}; --config FILE names another")
        return
    for path, _ in (logging or fitting)[:MAX_OFFERED]:
        shown = os.path.relpath(path)
        draft.note(f"settings could be read from {shown}: --config {shlex.quote(shown)}")


def has_config(draft: Draft, algorithm: str = "") -> bool:
    """Whether the run's own files say how it was trained."""
    tables = Tables(identify_framework(draft))
    recorded = {key: setting for key, setting in draft.settings.items() if key not in draft.typed}
    return says_more(recorded, tables, algorithm, IDENTITY)


def _scripts(files: Iterable[Path], draft: Draft, own: Identity) -> Iterator[tuple[Path, Script]]:
    flags = tuple((key, value) for key, value in given(draft).items() if isinstance(value, str | int | float))
    for path in files:
        try:
            file = status(real(path))
            yield path, _loaded(path, file.st_mtime_ns, flags, own.environment)
        except (FormatError, OSError):
            continue


@lru_cache(maxsize=4 * MAX_SCRIPTS)
def _loaded(path: Path, changed: int, flags: tuple[tuple[str, object], ...], environment: str) -> Script:
    """The script as of a time: all runs of a project are asked about the same few."""
    return load_script(path, given=dict(flags), environment=environment)


def _files(folder: Path) -> Iterator[Path]:
    """Scripts in the run's folder and those above, up to the root of the repository; nearest first."""
    folders = list(folders_above(folder))
    above = folders if is_root(folders[-1]) else folders[:WITHOUT_ROOT]
    is_linked = os.path.realpath(folders[0]) != str(folders[0])
    for place in (one / name for one in above for name in ("", *LAUNCHED_FROM) if not name or lies_at(one, name)):
        try:
            path = real(place) if is_linked else inside(str(place), place)
            names = _names(path, os.stat(path).st_mtime_ns)  # noqa: PTH116
        except OSError:
            continue
        yield from (place / name for name in names)


@lru_cache(maxsize=64)
def _names(folder: str, changed: int) -> tuple[str, ...]:
    """The scripts of a folder as of a time."""
    with listing(folder) as entries:
        return tuple(
            sorted(
                entry.name
                for entry in islice(entries, MAX_ENTRIES)
                if _may_set(PurePath(entry.name))
                and entry.is_file(follow_symlinks=False)
                and not _TEST.fullmatch(entry.name)
            )
        )


def _may_set(name: PurePath) -> bool:
    """Scripts, and the tables of rl-zoo, which are called after their algorithm."""
    is_table = name.suffix in (".yml", ".yaml") and bool(algorithm_name(name.stem) or name.stem.startswith(TABLES))
    return name.suffix in CODE or is_table


def _agreement(script: Script, own: Identity, draft: Draft) -> bool | None:
    """Whether a script has this run's algorithm, environment or learning rate; None where it names none of them,
    False for another."""
    tables = Tables(own.framework or script.framework or "unknown")
    logged = logged_rate(draft, tables.own)
    rates = [v for v in script.values if v.basis == "script" and meaning(v.key, tables) == "learning_rate"]
    if rates and all(differs(value, logged) for value in rates):
        return False
    named = environments(script, own)
    by_algorithm = [own.fits(name) for name in script.algorithms] if own.algorithm else []
    by_environment = [own.is_of(name) for name in named] if own.environment else []
    other = own.framework and script.framework and not are_related(own.framework, script.framework)
    if other or (by_algorithm and not any(by_algorithm)) or (by_environment and not any(by_environment)):
        return False
    return True if by_algorithm or by_environment or (rates and logged is not None) else None


def _logs_here(script: Script, path: Path, folder: Path) -> bool:
    """Whether the run lies in a folder that the script logs to, below the script's own."""
    home, run = path.parent.resolve(), folder.resolve()
    for text in script.folders:
        target = Path(os.path.normpath(home / text))
        if target != home and target.is_relative_to(home) and run.is_relative_to(target):
            return True
    return False
