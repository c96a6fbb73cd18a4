"""All effects that are known here: those that come with the package, and those of the user's own trials."""

from __future__ import annotations

from pathlib import Path

from rlclinic.model.errors import RlclinicError
from rlclinic.prescriptions.effects import Effects, packaged_effects
from rlclinic.store.ledger import default_state

# The last ledger read, by its state: many runs are often diagnosed with the same one.
_LAST: dict[tuple[Path, int, int], Effects] = {}


def known_effects() -> Effects:
    """The packaged rows and those of the ledger; a ledger that cannot be read costs its rows, not the diagnosis."""
    state = default_state()
    if state is None:
        return packaged_effects()
    if state not in _LAST:
        _LAST.clear()
        _LAST[state] = _with_ledger(state[0])
    return _LAST[state]


def _with_ledger(path: Path) -> Effects:
    from rlclinic.store.effects import measured_effects
    from rlclinic.store.ledger import Ledger

    try:
        return packaged_effects().joined(measured_effects(Ledger(path)))
    except (RlclinicError, ValueError, KeyError, TypeError):
        return packaged_effects()
