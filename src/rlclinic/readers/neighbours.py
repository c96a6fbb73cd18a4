"""A run that ended before its first log says nothing of its framework; the runs beside it often do."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from rlclinic.readers.draft import Draft
from rlclinic.readers.identify import Tables, identify_algorithm, identify_framework
from rlclinic.readers.parts.events import event_entries, read_events
from rlclinic.readers.place import Place, scan
from rlclinic.readers.registry import source_of

# How many folders beside the run's are looked at.
MAX_NEIGHBOURS = 6
# Folders that are named after what lies in them, not after a run.
NO_NAMES = frozenset({"events", "log", "logs", "tb", "tb_logs", "tensorboard"})


def ask_neighbours(draft: Draft) -> None:
    """Take framework and algorithm from a run in a folder beside this one, and say so."""
    if identify_framework(draft) != "unknown" or not _is_logged(draft.place):
        return
    folder = draft.place.folder.absolute()
    try:
        beside = [path for path in sorted(folder.parent.iterdir()) if path.is_dir() and path != folder]
    except OSError:
        return
    # A folder of another name is another run and says nothing of this one; `logs` is no name of a run.
    any_beside = folder.name.lower() in NO_NAMES and not draft.metric_names
    siblings = (path for path in beside if any_beside or _series(path) == _series(folder))
    for sibling in islice(siblings, MAX_NEIGHBOURS):
        try:
            probe = _probe(scan(sibling))
        except OSError:
            continue
        found = identify_framework(probe) if probe.metric_names else "unknown"
        if found != "unknown":
            draft.framework = found
            draft.algorithm = draft.algorithm or identify_algorithm(probe, Tables(found).own, {})
            draft.note(f"this run logged nothing; framework and algorithm are those of its neighbour {sibling.name}")
            return


def _series(folder: Path) -> str:
    """The name without its numbers: PPO_1 and PPO_2 are one series."""
    return re.sub(r"\d+", "", folder.name)


def _is_logged(place: Place) -> bool:
    """Whether a framework's logger began a log here: nothing else shows that what lies beside is of one series."""
    return bool(event_entries(place)) or _is_mlflow(place)


def _is_mlflow(place: Place) -> bool:
    return place.first("meta.yaml") is not None


def _probe(place: Place) -> Draft:
    probe = Draft(place)
    if _is_mlflow(place) and place.match("metrics/*"):
        source_of("mlflow").read(probe)
    else:
        read_events(probe, event_entries(place)[:1])
    return probe
