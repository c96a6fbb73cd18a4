"""Why a change that would treat a cause cannot be written in the user's syntax."""

from __future__ import annotations

from collections.abc import Iterable

from rlclinic.model.prescription import Change, PrescriptionKind
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.constraints import fitted, problems
from rlclinic.prescriptions.levers import turned
from rlclinic.prescriptions.proposal import fits, proposed
from rlclinic.prescriptions.remedies import Row


def unwritable(case: Case, rows: Iterable[Row]) -> str:
    """The reason of the first config row that has a value to offer and no words for it; empty where there is none."""
    from rlclinic.prescriptions.syntax import AlreadySo, CannotWrite, render

    for row in rows:
        if row.kind is not PrescriptionKind.CONFIG or not fits(case, row):
            continue
        turns = fitted(case, proposed(case, row))
        changes = [Change(turn.key, turn.key, case.run.config.get(turn.key), turn.to) for turn in turned(case, turns)]
        if not changes or problems(case, turns):
            continue
        try:
            render(case.run, changes)
        except AlreadySo:
            continue
        except CannotWrite as refusal:
            return refusal.message
    return ""
