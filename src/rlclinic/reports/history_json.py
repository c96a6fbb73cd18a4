"""A history as JSON: the object that `rlclinic compare --history ROOT --env ENV --json` prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rlclinic.model.history import History, PastConfig, Suggestion
from rlclinic.model.prescription import Change
from rlclinic.reports.history_sections import history_summary

HISTORY_SCHEMA = "rlclinic.history/1"


def history_object(history: History) -> dict[str, Any]:
    """The object of the contract. Numbers that are not finite are still floats; `dumps` writes them as strings."""
    return {
        "schema": HISTORY_SCHEMA,
        "root": history.root,
        "environment": history.environment,
        "algorithm": history.algorithm,
        "summary": history_summary(history),
        "runs": history.runs,
        "configs": history.configs,
        "enough": history.enough,
        "best": [_config(item) for item in history.best],
        "separations": [{**asdict(item), "sure": item.sure} for item in history.separations],
        "unit": history.unit,
        "attempts": [
            {**asdict(item), "changes": [_change(change) for change in item.changes]} for item in history.attempts
        ],
        "suggestions": [_suggestion(item) for item in history.suggestions],
        "notes": list(history.notes),
    }


def _config(item: PastConfig) -> dict[str, Any]:
    names = [name for name in PastConfig.__dataclass_fields__ if name not in ("settings", "paths")]
    plain = {name: getattr(item, name) for name in names}
    return {**plain, "paths": list(item.paths), "settings": dict(item.settings)}


def _suggestion(item: Suggestion) -> dict[str, Any]:
    return {
        "aim": item.aim.value,
        "text": item.text,
        "basis": item.basis.value,
        "source": item.source,
        "changes": [_change(change) for change in item.changes],
    }


def _change(change: Change) -> dict[str, Any]:
    return {"key": change.key, "native_key": change.native_key, "from": change.before, "to": change.after}
