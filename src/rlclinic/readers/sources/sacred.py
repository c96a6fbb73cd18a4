"""A Sacred run folder (PyMARL, EPyMARL, ...): config.json, run.json, info.json, metrics.json, cout.txt.

Values that Sacred could not write as JSON are jsonpickle objects (`py/object`). The number in one is read as data
where it stands there in the open; nothing is ever unpickled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np

from rlclinic.model.numbers import number
from rlclinic.model.run import Status
from rlclinic.readers.draft import LIKELY, SEEN, TOLD, Draft
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.parts.json_files import load_object
from rlclinic.readers.parts.logs import read_log
from rlclinic.readers.sources.files import list_checkpoints, read_event_files

# An info.json of a thousand metrics with ten thousand points each.
MAX_INFO_BYTES = 512 << 20
# Beside a list `name` of values PyMARL writes the list `name_T` of their steps.
STEPS = "_T"
# Below SEEN: where the budget was reached, what failed afterwards does not matter.
FAILED = (LIKELY + SEEN) // 2
_STATES = {
    "COMPLETED": (Status.FINISHED, TOLD),
    "INTERRUPTED": (Status.INTERRUPTED, TOLD),
    "TIMEOUT": (Status.INTERRUPTED, TOLD),
    "DIED": (Status.CRASHED, FAILED),
    "FAILED": (Status.CRASHED, FAILED),
}
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def read(draft: Draft) -> None:
    """Read config, metrics and how the run ended; its console text only where it has no metrics."""
    draft.source = "sacred"
    for name in ("config.json", "run.json", "info.json", "metrics.json"):
        entry = draft.place.first(name)
        if entry is None:
            continue
        if name == "config.json":
            read_config(draft, entry)
            continue
        data = load_object(draft, entry, "sacred", MAX_INFO_BYTES)
        if name == "run.json":
            _run(draft, data, entry.relative)
        elif name == "info.json":
            _info(draft, data, entry.relative)
        else:
            _metrics(draft, data, entry.relative)
    for entry in draft.place.match("cout.txt"):
        read_log(draft, entry, metrics=not draft.metric_names)
    if not draft.metric_names:
        read_event_files(draft)
    _team(draft)
    list_checkpoints(draft)


def plain(value: object) -> float:
    """The number that a value is or openly holds; NaN where it holds none, such as a pickled tensor."""
    if isinstance(value, Mapping):
        value = value.get("value")
    found = number(value) if isinstance(value, int | float) else None
    return math.nan if found is None else found


def _run(draft: Draft, data: Mapping[str, object], file: str) -> None:
    draft.started_at = _moment(data.get("start_time"))
    draft.ended_at = _moment(data.get("stop_time")) or _moment(data.get("heartbeat"))
    status = str(data.get("status", ""))
    trace = data.get("fail_trace")
    lines = "".join(str(line) for line in trace).splitlines() if isinstance(trace, list) else []
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    if status in _STATES:
        state, strength = _STATES[status]
        draft.clue(state, f"{file}: {status}{f' ({last})' if last else ''}", strength)
    elif status:
        draft.note(f"{file}: the status is still {status}: the end of the run was not recorded")
    if lines:
        draft.log(lines, file)
    experiment = data.get("experiment")
    name = experiment.get("name") if isinstance(experiment, dict) else None
    if isinstance(name, str):
        draft.log_marks.append(f"sacred experiment {name}")


def _info(draft: Draft, data: Mapping[str, object], file: str) -> None:
    """Lists of values, each with the list of its steps."""
    hidden = []
    for name, values in data.items():
        steps = data.get(f"{name}{STEPS}")
        if not isinstance(values, list) or not isinstance(steps, list):
            continue
        numbers = np.array([plain(value) for value in values])
        if values and isinstance(values[0], Mapping) and not np.isfinite(numbers).any():
            hidden.append(name)
            continue
        size = min(len(values), len(steps))
        draft.metric(name, np.array([plain(step) for step in steps[:size]]), numbers[:size], file)
    if hidden:
        draft.note(f"{file}: pickled values, not opened: {', '.join(sorted(hidden)[:8])}")


def _metrics(draft: Draft, data: Mapping[str, object], file: str) -> None:
    """What `log_scalar` keeps: steps, values and times by name; info.json may hold the same."""
    known = draft.metric_names
    for name, record in data.items():
        if name in known or not isinstance(record, dict):
            continue
        steps, values = record.get("steps"), record.get("values")
        if isinstance(steps, list) and isinstance(values, list):
            size = min(len(steps), len(values))
            at, numbers = (np.array([plain(item) for item in items[:size]]) for items in (steps, values))
            draft.metric(name, at, numbers, file)


def _team(draft: Draft) -> None:
    """PyMARL names its task in several settings, and its algorithm in `name`, else by its learner."""
    if "env_args" not in {key.partition(".")[0] for key in draft.settings}:
        return
    scenario = draft.text("env_args.map_name", "env_args.key", "env_args.scenario_name", "env_args.title")
    suite = draft.text("env")
    if scenario and suite and suite.lower() not in scenario.lower():
        suite = f"{'SMAC' if suite.startswith('sc2') else suite} {scenario}"
    draft.environment = draft.environment or suite or scenario
    words = _WORD.findall(draft.text("name") or draft.text("learner"))
    if words and not draft.algorithm:
        draft.algorithm = _algorithm(draft, words)


def _algorithm(draft: Draft, words: list[str]) -> str:
    from rlclinic.reference.algorithms import algorithm_name

    known = [algorithm_name(text) for text in ("".join(words), *words)]
    return next(filter(None, known), "") or words[0].upper()


def _moment(value: object) -> float | None:
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None
