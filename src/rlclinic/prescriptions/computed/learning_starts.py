"""When off-policy learning begins."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# Share of the budget that may pass before learning, and the fewest batches that the buffer should hold then.
LATEST = 0.02
BATCHES = 10
DEFAULT_BATCH = 64


def earlier_start(case: Case) -> tuple[Turn, ...]:
    """The reference start, at most a fiftieth of the budget, never before ten batches are there."""
    here = case.number("learning_starts")
    fewest = BATCHES * (case.number("batch_size") or DEFAULT_BATCH)
    known = case.reference_number("learning_starts")
    wanted = known if known is not None and case.has_entry else fewest
    if case.budget:
        wanted = min(max(wanted, min(fewest, LATEST * case.budget)), max(LATEST * case.budget, 1))
    return (Turn("learning_starts", max(1, round(wanted))),) if here is None or wanted < here else ()


def later_start(case: Case) -> tuple[Turn, ...]:
    """The reference start, at least ten batches."""
    here = case.number("learning_starts")
    fewest = BATCHES * (case.number("batch_size") or DEFAULT_BATCH)
    wanted = max(fewest, (case.reference_number("learning_starts") or 0.0) if case.has_entry else 0.0)
    return (Turn("learning_starts", round(wanted)),) if here is not None and wanted > here else ()
