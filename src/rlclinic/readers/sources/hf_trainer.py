"""Hugging Face Trainer folders: the log history in trainer_state.json of the newest checkpoint."""

from __future__ import annotations

import re

import numpy as np

from rlclinic.model.numbers import number, number_in
from rlclinic.model.run import Checkpoint, Status
from rlclinic.readers.columns import from_sparse
from rlclinic.readers.draft import LIKELY, Draft, RawTable
from rlclinic.readers.parts.json_files import load_object
from rlclinic.readers.parts.logs import log_entries, read_log
from rlclinic.readers.place import Entry
from rlclinic.readers.sources.files import read_configs, read_event_files

_CHECKPOINT = re.compile(r"checkpoint-\d+")
# A history of a million rows.
MAX_STATE_BYTES = 256 << 20


def read(draft: Draft) -> None:
    """Read the longest history, configs, logs and event files."""
    read_configs(draft)
    if draft.place.root != draft.place.folder:
        # A state that is named alone is of the run whose folder, or whose checkpoint, it lies in.
        above = (folder for folder in draft.place.folder.absolute().parts[::-1] if not _CHECKPOINT.fullmatch(folder))
        draft.name = next(above, "")
    states = [
        (entry, data)
        for entry in draft.place.match("trainer_state.json")
        if (data := load_object(draft, entry, "trainer state", MAX_STATE_BYTES))
    ]
    for entry, _ in states:
        folder = entry.relative.rpartition("/")[0]
        if folder:
            step = folder.rpartition("-")[2]
            draft.checkpoints.append(Checkpoint(folder, number_in(step)))
    if states:
        entry, data = max(states, key=lambda item: len(_history(item[1])))
        _add(draft, entry, data)
    for log in log_entries(draft.place):
        read_log(draft, log, metrics=not states)
    if not states:
        read_event_files(draft)


def _history(data: dict[str, object]) -> list[dict[str, object]]:
    rows = data.get("log_history")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _add(draft: Draft, entry: Entry, data: dict[str, object]) -> None:
    rows = _history(data)
    columns: dict[str, tuple[list[int], list[float]]] = {}
    for index, row in enumerate(rows):
        for name, value in row.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                indices, values = columns.setdefault(str(name), ([], []))
                indices.append(index)
                values.append(float(value))
    if rows:
        arrays = {name: (np.array(found), np.array(values)) for name, (found, values) in columns.items()}
        draft.tables.append(RawTable(from_sparse(arrays, len(rows)), entry.relative, "updates"))
    maximum = number(data.get("max_steps"))
    if maximum is not None and maximum > 0:
        draft.budget = maximum
    for key in ("train_batch_size", "num_train_epochs", "logging_steps", "save_steps"):
        if key in data:
            draft.setting(key, data[key], entry.relative)
            draft.typed.add(key)
    if any("train_runtime" in row for row in rows):
        draft.clue(Status.FINISHED, f"{entry.relative}: the history ends with the training summary", LIKELY + 40)
