"""A run that ended before its first log says nothing of its framework; the runs beside it often do."""

from __future__ import annotations

from itertools import islice

from rlclinic.readers.draft import Draft
from rlclinic.readers.identify import identify_framework
from rlclinic.readers.parts.events import event_entries, read_events
from rlclinic.readers.place import Place, scan
from rlclinic.readers.sources.mlflow import read as read_mlflow

# How many neighbouring runs are looked at, and how many levels up.
MAX_NEIGHBOURS = 4
LEVELS = 2


def framework_of_neighbours(draft: Draft) -> str:
    """The framework that the runs in the folders beside this one were written by; empty if unknown."""
    own = identify_framework(draft)
    if own != "unknown":
        return own
    folder = draft.place.folder
    for parent in islice(folder.absolute().parents, LEVELS):
        siblings = (path for path in sorted(parent.iterdir()) if path.is_dir() and path != folder)
        for sibling in islice(siblings, MAX_NEIGHBOURS):
            found = _framework_of(scan(sibling))
            if found:
                draft.note(f"framework taken from the neighbouring run {sibling.name}: this one logged nothing")
                return found
    return ""


def _framework_of(place: Place) -> str:
    probe = Draft(place)
    if place.first("meta.yaml") is not None and place.match("metrics/*"):
        read_mlflow(probe)
    else:
        read_events(probe, event_entries(place)[:1])
    if not probe.metric_names:
        return ""
    found = identify_framework(probe)
    return "" if found == "unknown" else found
