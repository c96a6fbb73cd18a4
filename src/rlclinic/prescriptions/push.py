"""A step that no fault asks for: it is taken because the goal was missed, and something says that it helps."""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.causes.catalogue import catalogue
from rlclinic.model.diagnosis import Cause
from rlclinic.prescriptions.case import Case


@dataclass(frozen=True, slots=True)
class Push:
    """Which remedy to take, and what says that it helps."""

    cause: str
    """The cause whose remedy makes the step."""
    why: str

    def cause_in(self, case: Case) -> Cause:
        """The cause as the diagnosis has it; with no probability where it was left out."""
        entry = catalogue()[self.cause]
        return case.causes.get(self.cause, Cause(self.cause, entry.cause_class, entry.kind, entry.meaning, 0.0))
