"""What one row of a remedy would turn in this run, before anything is checked or written."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.computed import COMPUTED
from rlclinic.prescriptions.levers import turned
from rlclinic.prescriptions.remedies import Row
from rlclinic.prescriptions.target import stepped
from rlclinic.prescriptions.turn import Turn


def fits(case: Case, row: Row) -> bool:
    """Whether a row is for this framework and algorithm."""
    if row.frameworks and case.run.framework not in row.frameworks:
        return False
    if row.algorithms and case.run.algorithm not in row.algorithms:
        return False
    # Where the algorithm is not known, every family is possible.
    return not row.families or not case.families or bool(case.families & set(row.families))


def proposed(case: Case, row: Row) -> tuple[Turn, ...]:
    """The hyperparameters and their new values; empty where the row has nothing to offer."""
    if row.how == "compute":
        return COMPUTED[row.by](case)
    if row.how == "set":
        return (Turn(row.key, row.to),)
    if row.how == "reference":
        known, here = case.reference_number(row.key), case.number(row.key)
        if known is None or (here is not None and row.only and (known > here) != (row.only == "up")):
            return ()
        return (Turn(row.key, known),)
    after = stepped(case, row.key, up=row.how == "up")
    if after is None:
        return ()
    return (Turn(row.key, after), *_also(case, row, after))


def main_keys(case: Case, turns: tuple[Turn, ...]) -> set[str]:
    """The keys that a remedy is about, as written by the user: companions alone are no remedy."""
    return {turn.key for turn in turned(case, turns[:1])} | {turn.key for turn in turns}


def _also(case: Case, row: Row, after: float) -> tuple[Turn, ...]:
    """Companions move by the same factor, where the user set them."""
    here = case.number(row.key)
    found = []
    for key in row.also:
        setting, value = case.run.config.settings.get(key), case.number(key)
        if here and value and setting is not None and not setting.is_default:
            found.append(Turn(key, float(f"{value * after / here:.2g}")))
    return tuple(found)
