"""All effects that are known here: those that come with the package, and those of the user's own trials."""

from __future__ import annotations

from pathlib import Path

from rlclinic.model.errors import RlclinicError
from rlclinic.prescriptions.effects import Effects, packaged_effects
from rlclinic.store.ledger import default_path

# The last ledger read, by its path, time and size: many runs are often diagnosed with the same one.
_LAST: dict[tuple[Path, int, int], Effects] = {}


def known_effects() -> Effects:
    """The packaged rows and those of the ledger; a ledger that cannot be read costs its rows, not the diagnosis."""
    path = default_path()
    try:
        state = path.stat()
    except OSError:
        return packaged_effects()
    key = (path, state.st_mtime_ns, state.st_size)
    if key not in _LAST:
        _LAST.clear()
        _LAST[key] = _with_ledger(path)
    return _LAST[key]


def _with_ledger(path: Path) -> Effects:
    from rlclinic.store.effects import measured_effects
    from rlclinic.store.ledger import Ledger

    try:
        return packaged_effects().joined(measured_effects(Ledger(path)))
    except (RlclinicError, ValueError, KeyError, TypeError):
        return packaged_effects()
