"""The next steps after a diagnosis: what to do, what to do if it does not suffice, what to monitor."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority
from rlclinic.model.run import Run

NOTHING = "Nothing needs to change as far as these logs tell."
# Metrics named, at most.
MOST_WATCHED = 5


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
    watched = dict.fromkeys(name for item in prescriptions for name in item.watch)
    if watched:
        names = [run.series[name].logged_as if name in run else name for name in watched]
        lines.append(f"Monitor in the next run: {', '.join(names[:MOST_WATCHED])}.")
    return tuple(lines)
