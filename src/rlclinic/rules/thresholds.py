"""The constants of rules that a user may move."""

from __future__ import annotations

from collections.abc import Mapping

from rlclinic.model.errors import UsageError
from rlclinic.rules.documentation import find_rule
from rlclinic.rules.registry import Row


def thresholds_of(row: Row) -> dict[str, float]:
    """The numeric constants of a rule's file, by name."""
    values = vars(row.module).items()
    return {
        name: float(value)
        for name, value in values
        if name.isupper() and isinstance(value, int | float) and not isinstance(value, bool)
    }


def apply_thresholds(thresholds: Mapping[str, Mapping[str, float]]) -> None:
    """Set constants as the user wishes; a rule or constant that does not exist is an error."""
    for name, values in thresholds.items():
        row = find_rule(name)
        if row is None:
            raise UsageError(f"thresholds: no rule is called {name!r}", hint="`rlclinic explain` lists the rules")
        known = thresholds_of(row)
        for constant, value in values.items():
            if constant not in known:
                raise UsageError(f"{name} has no threshold {constant!r}", hint=f"it has {', '.join(known) or 'none'}")
            setattr(row.module, constant, type(getattr(row.module, constant))(value))
