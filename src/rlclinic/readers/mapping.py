"""The user's own words on what a column means: canonical metric -> name in the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rlclinic.model.errors import UsageError
from rlclinic.model.vocabulary import METRICS, metric
from rlclinic.readers.columns import renamed
from rlclinic.readers.draft import Draft, RawTable

STEP = "step"
"""Pseudo-metric of a mapping: the column that holds env steps."""


def apply_map(draft: Draft, columns: Mapping[str, str]) -> None:
    """Rename the logged metrics as the user says; the canonical names are then found as they are."""
    known = draft.metric_names
    for canonical, logged in columns.items():
        if canonical != STEP and metric(canonical) is None:
            examples = ", ".join(entry.name for entry in METRICS[:6])
            raise UsageError(f"{canonical!r} is not a metric", hint=f"canonical metrics are {examples}, ...")
        if logged not in known:
            shown = ", ".join(sorted(known)[:8]) or "none"
            raise UsageError(f"no column {logged!r} in this run", hint=f"columns here: {shown}")
    names = {logged: ("env_steps" if canonical == STEP else canonical) for canonical, logged in columns.items()}
    draft.metrics = [replace(raw, name=names.get(raw.name, raw.name)) for raw in draft.metrics]
    draft.tables = [_renamed(raw, names) for raw in draft.tables]


def _renamed(raw: RawTable, names: Mapping[str, str]) -> RawTable:
    return replace(raw, table=renamed(raw.table, names))
