"""What home-made scripts save: `rewards.npy`, `results.npz`, and JSON of lists, of records, or of both nested in names.

A JSON object with a part for each of several algorithms is as many runs. Never unpickled: an array of objects is left
alone.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rlclinic.model.numbers import bounded_array, number
from rlclinic.model.series import FloatArray
from rlclinic.readers.draft import Draft, RawTable
from rlclinic.readers.formats.archive import array_names, read_array, read_arrays
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.named_by_file import as_return, metric_of_file, tells_return
from rlclinic.readers.place import Entry
from rlclinic.readers.registry import HOME_MADE
from rlclinic.readers.sources.files import read as read_files
from rlclinic.readers.transitions.columns import NAMES
from rlclinic.readers.words import words as words_of
from rlclinic.reference.algorithms import algorithm_in

MAX_BYTES = 64 << 20
STEPS = ("timesteps", "total_steps", "env_steps", "steps")
# Shorter lists are results, not curves.
FEWEST = 5
# How deep a table may lie under names of tasks, systems and seeds.
DEEPEST = 6
# `[count, value]`.
PAIR = 2
SETTINGS = ("config", "args", "params", "hyperparameters", "hparams", "settings")
# Words beside an algorithm's name that make a variant of it.
VARIANTS = frozenset({"double", "dueling", "vanilla", "agent", "per", "prioritized", "baseline", "tuned", "default",
                      "with", "without", "and", "seed", "run"})  # fmt: skip
Columns = Mapping[str, FloatArray]


def has_returns(entry: Entry) -> bool:
    """Whether a file holds a list or an array whose name says that it is of returns."""
    try:
        found = _columns(entry)
    except (FormatError, OSError):
        return False
    return any(tells_return(name) and values.shape[0] >= FEWEST for name, values in found.items())


def members(entry: Entry) -> list[str]:
    """The algorithms that a JSON file has a part for, where it has several."""
    try:
        data = load_json_data(decode(entry.read(MAX_BYTES))) if entry.name.endswith(".json") else None
    except (FormatError, OSError):
        return []
    return list(_by_algorithm(data))


def read(draft: Draft) -> None:
    """Read every list and array with a number for each episode, and the files beside them."""
    read_files(draft)
    for entry in draft.place.match(*HOME_MADE):
        if entry.relative in draft.files:
            continue
        try:
            found = _columns(entry, draft.place.member)
        except (FormatError, OSError) as error:
            draft.note(f"{entry.relative}: not read ({error})")
            continue
        if several := members(entry):
            chosen = draft.place.member if draft.place.member in several else several[0]
            draft.algorithm, draft.name = draft.algorithm or algorithm_in(chosen), draft.name or chosen
            told = f"{entry.relative}: {len(several)} trainings by algorithm; this is {chosen}"
            other = next(name for name in several if name != chosen)
            draft.note(f"{told}, name another as {entry.relative}::{other}")
        if not any(len(values) >= FEWEST for values in found.values()):
            continue
        draft.used(entry, "table")
        for key, value in _settings(entry).items():
            draft.setting(key, value, entry.relative)
        lengths = [len(values) for values in found.values()]
        # Lists of another length count something else: updates beside episodes.
        for rows in sorted(set(lengths), key=lengths.count, reverse=True):
            own = {name: bounded_array(values) for name, values in found.items() if len(values) == rows}
            named = {as_return(name) if tells_return(name) else name: values for name, values in own.items()}
            counted = any(name in named for name in STEPS)
            draft.tables.append(
                RawTable(Table(tuple(named), rows, named, {}, {}), entry.relative, None if counted else "episodes")
            )


def _columns(entry: Entry, member: str = "") -> Columns:
    data = entry.read(MAX_BYTES)
    if entry.name.endswith(".npy"):
        rows = read_array(data)
        return {metric_of_file(entry.name) or entry.name.removesuffix(".npy"): _curve(rows)} if rows.size else {}
    if entry.name.endswith(".npz"):
        return dict(_arrays(data))
    value = load_json_data(decode(data))
    parts = _by_algorithm(value)
    if parts:
        # A list under nothing but an algorithm's name is of its returns.
        return _table(parts.get(member, next(iter(parts.values()))), metric_of_file(entry.name) or "rewards")
    return _table(value, metric_of_file(entry.name))


def _by_algorithm(data: object) -> dict[str, object]:
    """The parts of a JSON object that are named after algorithms; empty where it has not several, or curves besides."""
    curves = {str(key): part for key, part in data.items() if _table(part, "x")} if isinstance(data, dict) else {}
    return curves if len(curves) > 1 and all(map(_is_algorithm, curves)) else {}


def _is_algorithm(name: str) -> bool:
    """Whether a name is of an algorithm, and not of something that is measured of it: `DQN`, `Dueling DQN`, `ppo_2`."""
    left = {word for word in words_of(name) if not algorithm_in(word) and not word.isdigit()}
    return bool(algorithm_in(name)) and left <= VARIANTS


def _arrays(data: bytes) -> Iterator[tuple[str, FloatArray]]:
    names = array_names(io.BytesIO(data))
    if all(set(names) & set(NAMES[column]) for column in ("observations", "actions", "rewards")):
        # Steps of an environment: their rewards are no returns.
        return
    for name in names:
        try:
            found = read_arrays(io.BytesIO(data), (name,), MAX_BYTES)
        except FormatError:
            continue
        yield from ((key, _curve(rows)) for key, rows in found.items() if rows.size)


def _curve(rows: FloatArray) -> FloatArray:
    """One value for each entry of the longer side: the shorter one is of seeds, agents or repeated episodes."""
    return np.asarray(rows.mean(axis=int(rows.shape[0] >= rows.shape[1])), dtype=np.float64)


def _table(data: object, name: str, depth: int = 0) -> Columns:
    """The columns of the largest table in a JSON value."""
    if isinstance(data, list):
        if data and isinstance(data[0], dict):
            return _of_records(data)
        return _counted(data, name) or _of_lists({name: data}) if name else {}
    if not isinstance(data, dict) or depth > DEEPEST:
        return {}
    found = [_of_lists(data), _of_records(list(data.values()))]
    found += [_table(value, str(key), depth + 1) for key, value in data.items() if isinstance(value, dict | list)]
    return max(found, key=lambda columns: sum(map(len, columns.values())))


def _counted(rows: Sequence[object], name: str) -> Columns:
    """Rows of `[count, value]`; empty where the first of two numbers does not count."""
    pairs = [row for row in rows if isinstance(row, list) and len(row) == PAIR]
    if len(pairs) != len(rows) or len(rows) < FEWEST:
        return {}
    counts, values = np.array([[_value(item) for item in row] for row in pairs]).T
    return {"episode": counts, name: values} if bool((np.diff(counts) > 0).all()) else {}


def _of_lists(data: Mapping[str, object]) -> Columns:
    lists = {str(name): value for name, value in data.items() if isinstance(value, list) and len(value) >= FEWEST}
    columns = {name: np.array([_value(item) for item in value]) for name, value in lists.items()}
    return {name: values for name, values in columns.items() if np.isfinite(values).any()}


def _of_records(rows: Sequence[object]) -> Columns:
    """Records with the same names; what is none, such as a summary at the end, is passed over."""
    records = [row for row in rows if isinstance(row, dict)]
    if len(records) < FEWEST:
        return {}
    shapes = [tuple(sorted(row)) for row in records]
    usual = max(set(shapes), key=shapes.count)
    records = [row for row, shape in zip(records, shapes, strict=True) if set(usual) <= set(shape)]
    names = [name for name in usual if np.isfinite(_value(records[-1][name]))]
    return {name: np.array([_value(row.get(name)) for row in records]) for name in names}


def _value(item: object) -> float:
    """A number, or the mean of a few: an evaluation of several episodes."""
    if isinstance(item, list) and item and all(number(part) is not None for part in item):
        return float(np.mean(item))
    found = number(item)
    return float("nan") if found is None else found


def _settings(entry: Entry) -> dict[str, object]:
    """Of a JSON file the settings that stand beside its lists."""
    if not entry.name.endswith(".json"):
        return {}
    data = load_json_data(decode(entry.read(MAX_BYTES)))
    found = data if isinstance(data, dict) else {}
    inner: dict[str, object] = next((found[key] for key in SETTINGS if isinstance(found.get(key), dict)), {})
    return {str(key): value for key, value in inner.items() if isinstance(value, str | int | float)}
