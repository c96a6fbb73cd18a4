"""What changes did when they were tried, by the package's own table and by the user's trials."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from rlclinic.causes.catalogue import catalogue
from rlclinic.model.effect import REGAINED, Direction, EffectRow
from rlclinic.model.errors import RlclinicError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.table_file import load_table
from rlclinic.store.ledger import default_state

TABLE = Path(__file__).with_name("effects.toml")
# The last ledger read, by its state: many runs are often diagnosed with the same one.
_LAST: dict[tuple[Path, int, int], Effects] = {}


@dataclass(frozen=True, slots=True)
class Effects:
    """A table of measured effects."""

    rows: tuple[EffectRow, ...] = ()

    def joined(self, more: Iterable[EffectRow]) -> Effects:
        """The same table with further rows, for example those of a ledger."""
        return Effects((*self.rows, *more))

    def by_environment(
        self, cause: str, key: str, direction: Direction, algorithm: str, metric: str
    ) -> dict[str, tuple[float, int]]:
        """The mean effect on each environment, weighted by seeds, and how many trials it rests on.

        Of all algorithms where `algorithm` is empty.
        """
        found: dict[str, list[EffectRow]] = {}
        for row in self._of(cause, key, direction, metric):
            if not algorithm or row.algorithm.upper() == algorithm.upper():
                found.setdefault(short_name(row.environment), []).append(row)
        means: dict[str, tuple[float, int]] = {}
        for environment, rows in found.items():
            seeds = sum(row.n_seeds for row in rows)
            trials = sum(row.n_seeds if row.metric == REGAINED else 1 for row in rows)
            means[environment] = sum(row.effect * row.n_seeds for row in rows) / seeds, trials
        return means

    def _of(self, cause: str, key: str, direction: Direction, metric: str) -> list[EffectRow]:
        wanted = (cause, key, direction, metric)
        return [row for row in self.rows if (row.cause, row.key, row.direction, row.metric) == wanted]


def short_name(environment: str) -> str:
    """An environment without the module that holds it."""
    return environment.rpartition(":")[2]


@cache
def packaged_effects() -> Effects:
    """The rows that come with the package."""
    rows = tuple(EffectRow(**row) for row in load_table(TABLE)["rows"])
    for row in rows:
        if row.cause not in catalogue() or row.key not in hyperparameters():
            raise ValueError(f"effects.toml: {row.cause} or {row.key} is not known")
        if not row.source:
            raise ValueError(f"effects.toml: {row.cause} with {row.key} on {row.environment} has no source")
    return Effects(rows)


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
