"""The next steps after a diagnosis: what to do, what to do if it does not suffice, what to monitor."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.numbers import number
from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority
from rlclinic.model.run import Run
from rlclinic.prescriptions.checks.constraints import RANGES
from rlclinic.prescriptions.proposals.native_settings import BUDGETS
from rlclinic.prescriptions.remedies.careful_step import rounded, step_factor
from rlclinic.prescriptions.wording import as_text
from rlclinic.reference.usual import size_of, value_of_size

NOTHING = "Nothing needs to change as far as these logs tell."
# Metrics named, at most.
MOST_WATCHED = 5


def variations(item: Prescription) -> str:
    """A step to either side of the value that is prescribed: what a trial would try beside it. Empty without one."""
    change = next((change for change in item.changes if (number(change.after) or 0.0) > 0.0), None)
    if item.kind is not PrescriptionKind.CONFIG or change is None or change.key in BUDGETS:
        return ""
    size, factor = size_of(change.key, float(str(change.after))), step_factor(change.key)
    tried = [rounded(change.key, value_of_size(change.key, size * by)) for by in (1.0 / factor, factor)]
    allowed = [
        value for value in tried if _is_allowed(change.key, value) and value not in (change.before, change.after)
    ]
    if not allowed:
        return ""
    values = " and ".join(as_text(value) for value in allowed)
    return f"Variations to try, one at a time and with the same seeds: {change.native_key} {values}."


def _is_allowed(key: str, value: float) -> bool:
    return key not in RANGES or RANGES[key].holds(value)


def next_steps(run: Run, prescriptions: Sequence[Prescription], lacking: Sequence[str] = ()) -> tuple[str, ...]:
    """One line per prescription and one with the metrics to monitor; what `lacking` says keeps it from being judged."""
    if not prescriptions and lacking:
        return (f"No change is advised, but the run is not known to be healthy: {'; '.join(lacking)}.",)
    if not prescriptions:
        return (NOTHING,)
    lines = [item.instruction for item in prescriptions]
    first = prescriptions[0]
    optional = first.priority is Priority.LOW and len(prescriptions) == 1
    if first.kind is PrescriptionKind.CONFIG and not optional:
        lines[0] = f"{first.instruction} Change nothing else, and train again with the same seed."
    varied = next((text for item in prescriptions if (text := variations(item))), "")
    if varied and not optional:
        lines.append(varied)
    watched = dict.fromkeys(name for item in prescriptions for name in item.watch)
    if watched:
        names = [run.series[name].logged_as if name in run else name for name in watched]
        lines.append(f"Monitor in the next run: {', '.join(names[:MOST_WATCHED])}.")
    return tuple(lines)
