"""Runs as JSON: the `run` object of the contract, `show` and `runs`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rlclinic.model.config import Setting
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.model.summary import run_summary
from rlclinic.model.vocabulary import expected_metrics

SHOW_SCHEMA = "rlclinic.show/1"
RUNS_SCHEMA = "rlclinic.runs/1"
_BEYOND_ASCII = re.compile("[\\x7f-\U0010ffff]")


def show_object(run: Run) -> dict[str, Any]:
    """What `rlclinic show --json` prints for one run."""
    return {
        "schema": SHOW_SCHEMA,
        "run": run_summary(run),
        "metrics": [_metric(series) for series in run.series.values()],
        "missing_metrics": [entry.name for entry in expected_metrics(run.algorithm) if entry.name not in run],
        "unknown_metrics": list(run.unknown_metrics),
        "config": {name: _setting(setting) for name, setting in run.config.settings.items()},
        "native_config": {name: _setting(setting) for name, setting in run.config.native.items()},
        "episodes": len(run.episodes) if run.episodes else 0,
        "logs": [{"kind": item.kind, "file": item.file, "line": item.line, "text": item.text} for item in run.logs],
        "checkpoints": [
            {"path": item.path, "step": item.step, "label": item.label, "metrics": dict(item.metrics)}
            for item in run.checkpoints
        ],
        "provenance": {
            "reader": run.provenance.reader,
            "files": [{"path": f.path, "kind": f.kind, "size": f.size} for f in run.provenance.files],
            "notes": list(run.provenance.notes),
        },
    }


def runs_object(root: str, runs: Sequence[Mapping[str, Any]], errors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `rlclinic runs --json` prints."""
    return {
        "schema": RUNS_SCHEMA,
        "root": root,
        "count": len(runs),
        "runs": list(runs),
        "errors": list(errors),
    }


def dumps(value: object, *, indent: int | None = 2) -> str:
    """JSON text in which non-finite numbers are the strings nan, inf and -inf, and what is invisible is escaped."""
    separators = None if indent else (",", ":")
    text = json.dumps(
        _finite(value), ensure_ascii=False, indent=indent, separators=separators, allow_nan=False, default=str
    )
    return _BEYOND_ASCII.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


def _metric(series: Series) -> dict[str, Any]:
    return {
        "name": series.name,
        "logged_as": series.logged_as,
        "known": series.known,
        "points": len(series),
        "step_axis": series.axis,
        "first_step": float(series.steps[0]) if len(series) else None,
        "last_step": series.last_step,
        "first": float(series.values[0]) if len(series) else None,
        "last": series.last,
        "best": series.highest,
        "estimator": series.estimator,
        "window": series.window,
        "decimals": series.decimals,
        "caveat": series.caveat,
        "source": series.source,
    }


def _setting(setting: Setting) -> dict[str, Any]:
    return {
        "value": setting.value,
        "native_key": setting.native_key,
        "file": setting.origin.file if setting.origin else None,
        "line": setting.origin.line if setting.origin else None,
        "basis": setting.origin.basis if setting.origin else None,
        "default": setting.is_default,
    }


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
