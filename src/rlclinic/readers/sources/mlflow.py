"""A run of MLflow's file store: meta.yaml, params/, metrics/, tags/."""

from __future__ import annotations

import numpy as np

from rlclinic.model.numbers import number
from rlclinic.model.run import Status
from rlclinic.readers.configs.untyped import typed
from rlclinic.readers.draft import TOLD, Draft
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.yaml.safe_yaml import load_yaml
from rlclinic.readers.place import Entry

MAX_PARAM_BYTES = 64 << 10

STATES = {
    "1": Status.RUNNING, "RUNNING": Status.RUNNING,
    "2": Status.RUNNING, "SCHEDULED": Status.RUNNING,
    "3": Status.FINISHED, "FINISHED": Status.FINISHED,
    "4": Status.CRASHED, "FAILED": Status.CRASHED,
    "5": Status.INTERRUPTED, "KILLED": Status.INTERRUPTED,
}  # fmt: skip


def read(draft: Draft) -> None:
    """Read metadata, parameters and metrics of one run."""
    draft.source = "mlflow"
    meta = draft.place.first("meta.yaml")
    if meta is not None:
        _meta(draft, meta)
    for entry in draft.place.match("params/*"):
        draft.setting(entry.relative.removeprefix("params/"), typed(_text(draft, entry)), entry.relative, 1)
    for entry in draft.place.match("metrics/*"):
        _metric(draft, entry)
    for entry in draft.place.match("tags/mlflow.runName"):
        run_name = _text(draft, entry)
        if run_name:
            draft.log_marks.append(run_name)


def _meta(draft: Draft, entry: Entry) -> None:
    try:
        document = load_yaml(decode(entry.read(1 << 20)))
    except (FormatError, OSError) as error:
        draft.note(f"{entry.relative}: {error}")
        return
    draft.used(entry, "mlflow")
    data = document.data if isinstance(document.data, dict) else {}
    draft.name = str(data.get("run_id") or data.get("run_uuid") or draft.name)
    status = str(data.get("status", ""))
    if status in STATES and STATES[status] is not Status.RUNNING:
        draft.clue(STATES[status], f"{entry.relative}: status {status}", TOLD)
    for field, attribute in (("start_time", "started_at"), ("end_time", "ended_at")):
        value = number(data.get(field))
        if value is not None:
            setattr(draft, attribute, value / 1000.0)


def _metric(draft: Draft, entry: Entry) -> None:
    """Lines `timestamp_ms value step`; old versions have no step."""
    rows: list[tuple[float, float, float]] = []
    for index, line in enumerate(decode(entry.read()).splitlines()):
        parts = line.split()
        try:
            rows.append((float(parts[0]) / 1000, float(parts[1]), float(parts[2]) if len(parts) > 2 else index))
        except (ValueError, IndexError):
            draft.note(f"{entry.relative}:{index + 1}: not a metric line, skipped")
    if not rows:
        return
    draft.used(entry, "metric")
    times, values, steps = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    draft.metric(entry.relative.removeprefix("metrics/"), steps, values, entry.relative, wall_times=times)


def _text(draft: Draft, entry: Entry) -> str:
    draft.used(entry, "parameter")
    return decode(entry.read(MAX_PARAM_BYTES)).strip()
