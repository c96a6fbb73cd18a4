"""Other runs of the same config with another seed: folders beside the run whose names differ in digits only."""

from __future__ import annotations

import re
from pathlib import Path

from rlclinic.model.errors import RlclinicError
from rlclinic.model.run import Run
from rlclinic.readers.no_links import listing, real
from rlclinic.readers.open import read

# Folders that are read; more seeds do not change what the spread says.
MOST = 6
# Bytes of the run's own files above which its siblings would take too long to read.
LARGE = 20_000_000
# Settings that may differ between seeds of one config.
MAY_DIFFER = frozenset({"seed", "total_steps"})


def siblings_of(run: Run) -> tuple[Run, ...]:
    """Runs with the same framework, algorithm, environment and settings; none where the config is not known."""
    folder = run.location
    settings = _settings(run)
    if not settings or not folder.is_dir() or sum(file.size for file in run.provenance.files) > LARGE:
        return ()
    pattern = _without_digits(folder.name)
    if pattern == folder.name:
        return ()
    parent = folder.resolve().parent
    try:
        with listing(real(parent)) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return ()
    beside = sorted(parent / name for name in names if name != folder.name and _without_digits(name) == pattern)
    found = [other for path in beside[:MOST] if (other := _read(path)) is not None]
    identity = (run.framework, run.algorithm, run.environment)
    return tuple(
        other
        for other in found
        if (other.framework, other.algorithm, other.environment) == identity and _settings(other) == settings
    )


def _without_digits(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _settings(run: Run) -> dict[str, object]:
    return {name: setting.value for name, setting in run.config.settings.items() if name not in MAY_DIFFER}


def _read(path: Path) -> Run | None:
    try:
        return read(path)
    except RlclinicError:
        return None
