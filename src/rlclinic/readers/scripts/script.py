"""What a training script says of a run: its settings, each with its line and how sure it is, and whose it is."""

from __future__ import annotations

from enum import IntEnum

from rlclinic.model.config import Basis
from rlclinic.model.lazy_dataclass import dataclass


class Rank(IntEnum):
    """Which of several places decides: what is nearer to the trainer."""

    TRAINER = 0
    CALL = 1
    FLAG = 2
    CONSTANT = 3


@dataclass(frozen=True, slots=True)
class ScriptValue:
    """One setting of a script."""

    key: str
    value: object
    """The text of the expression where the basis is `open`."""
    line: int
    basis: Basis
    rank: Rank
    algorithm: str = ""
    """Of the trainer that it is an argument of."""
    file: str = ""
    """Where it stands, if not in the script itself: the script that a shell file starts."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script as far as its text tells."""

    framework: str = ""
    algorithms: tuple[str, ...] = ()
    values: tuple[ScriptValue, ...] = ()
    folders: tuple[str, ...] = ()
    """The folders that it logs to, as it writes them."""
    trains: bool = False

    def settings(self, names: dict[str, str], algorithm: str) -> list[ScriptValue]:
        """One value per key, the one nearest to the trainer, for one algorithm. `names` are what the keys mean."""
        is_sure = bool(algorithm) or len(self.algorithms) < 2
        nearest: dict[str, Rank] = {}
        groups: dict[str, list[ScriptValue]] = {}
        for value in self.values:
            if not value.algorithm or (is_sure and value.algorithm == (algorithm or value.algorithm)):
                name = names.get(value.key) or value.key
                nearest[name] = min(value.rank, nearest.get(name, value.rank))
                groups.setdefault(value.key, []).append(value)
        found = ([v for v in group if v.rank == nearest[names.get(key) or key]] for key, group in groups.items())
        return [chosen for group in found if group for chosen in _chosen(group)]


def _chosen(found: list[ScriptValue]) -> list[ScriptValue]:
    """The one value of a key; where several places disagree, which one counts is open."""
    first, nearest = found[0], found[0].rank
    others = [value for value in found[1:] if repr(value.value) != repr(first.value)]
    if not others:
        return [first]
    if nearest is Rank.CONSTANT:
        return []
    shown = ", ".join(dict.fromkeys(f"{value.value} (line {value.line})" for value in (first, *others)))
    return [ScriptValue(first.key, shown[:200], first.line, "open", nearest, first.algorithm, first.file)]
