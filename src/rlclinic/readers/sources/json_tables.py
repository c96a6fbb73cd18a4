"""Metrics in one JSON object: a list of numbers by name, or a list of `[wall time, step, value]` by name.

The first is what Keras-RL's FileLogger and many home-made scripts write, the second what tensorboardX exports
(`summary.json` of the MAPPO code base and its many descendants).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlclinic.model.numbers import number
from rlclinic.readers.draft import Draft, RawTable
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.place import Entry
from rlclinic.readers.registry import JSON_TABLES
from rlclinic.readers.sources.files import list_checkpoints, read_configs

MAX_BYTES = 256 << 20
# A list of fewer names is a config or a record of something else.
ENOUGH_NAMES = 2
# `[wall time, step, value]`.
POINT = 3


def is_json_table(entry: Entry) -> bool:
    """Whether a file holds metrics in one of the two shapes, by a look at all of it."""
    try:
        head = entry.head(2).lstrip()
        return head.startswith(b"{") and bool(_tables(load_json_data(decode(entry.read(MAX_BYTES)))))
    except (FormatError, OSError):
        return False


def read(draft: Draft) -> None:
    """Read every such file and the configs beside them."""
    read_configs(draft)
    entries = draft.place.entries if len(draft.place.entries) == 1 else draft.place.match(*JSON_TABLES)
    for entry in entries:
        if entry.relative in draft.files:
            continue
        try:
            data = load_json_data(decode(entry.read(MAX_BYTES)))
        except (FormatError, OSError) as error:
            draft.note(f"{entry.relative}: {error}")
            continue
        if not _tables(data):
            continue
        draft.used(entry, "table")
        assert isinstance(data, dict)
        _points(draft, data, entry.relative)
        _columns(draft, data, entry.relative)
    list_checkpoints(draft)


def _tables(data: object) -> bool:
    if not isinstance(data, dict):
        return False
    lists = [value for value in data.values() if isinstance(value, list) and value]
    if lists and all(_is_point(value[0]) for value in lists):
        return True
    lengths = [len(value) for value in lists if _is_number(value[0])]
    return any(lengths.count(length) >= ENOUGH_NAMES for length in set(lengths))


def _points(draft: Draft, data: Mapping[str, object], file: str) -> None:
    for name, rows in data.items():
        points = [row for row in rows if _is_point(row)] if isinstance(rows, list) else []
        if points:
            times, steps, values = np.array([[_number(item) for item in row] for row in points]).T
            draft.metric(_tag(name), steps, values, file, wall_times=times)


def _tag(name: str) -> str:
    """tensorboardX puts the folder before the tag, and the tag twice: `<folder>/logs/agent0/loss/agent0/loss`."""
    parts = name.replace("\\", "/").split("/")
    for size in range(len(parts) // 2, 0, -1):
        if parts[-size:] == parts[-2 * size : -size]:
            return "/".join(parts[-size:])
    return parts[-1]


def _columns(draft: Draft, data: Mapping[str, object], file: str) -> None:
    """Lists of the commonest length are the columns of one table; a column of texts is a constant or no metric."""
    lists = {name: value for name, value in data.items() if isinstance(value, list) and value}
    lists = {name: value for name, value in lists.items() if _is_number(value[0]) or isinstance(value[0], str)}
    if not lists:
        return
    lengths = [len(value) for value in lists.values()]
    rows = max(sorted(set(lengths)), key=lengths.count)
    numbers = {}
    for name, values in lists.items():
        if len(values) != rows:
            draft.note(f"{file}: {name} has {len(values)} values where others have {rows}, left out")
        elif isinstance(values[0], str):
            draft.setting(name, values[0], file)
        else:
            numbers[name] = np.array([_number(value) for value in values])
    if numbers:
        draft.tables.append(RawTable(Table(tuple(numbers), rows, numbers, {}, {}), file))


def _is_point(value: object) -> bool:
    return isinstance(value, list) and len(value) == POINT and all(_is_number(item) for item in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> float:
    found = number(value) if _is_number(value) else None
    return float("nan") if found is None else found
