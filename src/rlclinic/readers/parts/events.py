"""TensorBoard event files: one run's files joined, separate runs in one folder told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.configs.untyped import typed
from rlclinic.readers.draft import Draft
from rlclinic.readers.place import Entry, Place
from rlclinic.readers.reading import parsed_once

if TYPE_CHECKING:
    from rlclinic.readers.formats.tensorboard.tfevents import EventFile

PATTERNS = ("*events.out.tfevents*", "*.tfevents", "events.*.tfevents*")

# A start below this share of the steps before it is a new run, not a resume from a checkpoint.
NEW_RUN = 0.05

_STAMP = re.compile(r"tfevents\.(\d{9,11})")
_TABLE_ROW = re.compile(r"^\|\s*([^|\s][^|]*?)\s*\|\s*(.*?)\s*\|\s*$")


@dataclass(frozen=True, slots=True)
class _Loaded:
    entry: Entry
    events: EventFile
    first_step: int
    last_step: int


def event_entries(place: Place) -> tuple[Entry, ...]:
    """The event files of a place in the order in which they were started."""
    return tuple(sorted(place.match(*PATTERNS), key=lambda entry: (_started(entry), entry.relative)))


def groups(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """Event files of one folder by run: files that continue or overlap belong together."""
    if len(entries) < 2:
        return [tuple(entries)] if entries else []
    return [tuple(item.entry for item in group) for group in _group([_load(entry) for entry in entries])]


def read_events(draft: Draft, entries: Sequence[Entry]) -> None:
    """Read event files that belong to one run; texts that hold hyperparameters become settings."""
    loaded = [_load(entry) for entry in entries]
    joined: dict[str, list[tuple[Entry, EventFile]]] = {}
    for item in loaded:
        draft.used(item.entry, "tensorboard")
        copied = next((other for other in loaded if other is not item and _is_copy(item, other)), None)
        if copied is not None and loaded.index(copied) < loaded.index(item):
            draft.note(f"{item.entry.relative}: a copy of {copied.entry.relative}, left out")
            continue
        draft.problems(item.entry.relative, item.events.problems)
        if not item.events.scalars:
            draft.note(f"{item.entry.relative}: {_empty_reason(item.events)}")
        for tag in item.events.scalars:
            joined.setdefault(tag, []).append((item.entry, item.events))
        _texts(draft, item)
    for tag, parts in joined.items():
        columns = [events.scalars[tag] for _, events in parts]
        draft.metric(
            tag,
            np.concatenate([column.steps for column in columns]),
            np.concatenate([column.values for column in columns]),
            parts[-1][0].relative,
            wall_times=np.concatenate([column.wall_times for column in columns]),
        )
    _times(draft, loaded)


def _is_copy(item: _Loaded, other: _Loaded) -> bool:
    ours, theirs = item.events.scalars, other.events.scalars
    return (
        bool(ours)
        and ours.keys() == theirs.keys()
        and all(
            np.array_equal(ours[tag].wall_times, theirs[tag].wall_times)
            and np.array_equal(ours[tag].values, theirs[tag].values, equal_nan=True)
            for tag in ours
        )
    )


def _times(draft: Draft, loaded: Sequence[_Loaded]) -> None:
    starts = [item.events.first_wall_time for item in loaded if item.events.first_wall_time]
    ends = [item.events.last_wall_time for item in loaded if item.events.last_wall_time]
    if starts and draft.started_at is None:
        draft.started_at = min(starts)
    if ends and draft.ended_at is None:
        draft.ended_at = max(ends)


def _texts(draft: Draft, item: _Loaded) -> None:
    for key, value in item.events.hparams.items():
        draft.setting(key, value, item.entry.relative)
    for entry in item.events.texts:
        draft.text_tags.add(entry.tag)
        for key, value in _hyperparameters(entry.text):
            draft.setting(key, value, item.entry.relative)


def _hyperparameters(text: str) -> list[tuple[str, object]]:
    """The pairs of a markdown table `|param|value|`, or of lines `key: value` as ML-Agents writes them."""
    rows = [found.groups() for line in text.splitlines() if (found := _TABLE_ROW.match(line))]
    pairs = [(key, typed(value)) for key, value in rows if key != "param" and set(key) - set("-: ")]
    if pairs:
        return pairs
    found_pairs: list[tuple[str, object]] = []
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        key, separator, value = line.strip().partition(":")
        if not separator or not re.fullmatch(r"[\w.-]+", key):
            continue
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        path = [item for item in path if item[0] < indent]
        if value.strip():
            found_pairs.append((".".join([*(name for _, name in path), key]), typed(value)))
        else:
            path.append((indent, key))
    return found_pairs


def _group(loaded: Sequence[_Loaded]) -> list[list[_Loaded]]:
    result: list[list[_Loaded]] = []
    for item in loaded:
        if result and not _starts_anew(result[-1], item):
            result[-1].append(item)
        else:
            result.append([item])
    return result


def _starts_anew(group: Sequence[_Loaded], item: _Loaded) -> bool:
    before = [other for other in group if other.events.scalars]
    if not before or not item.events.scalars:
        return False
    last_time = max(other.events.last_wall_time or 0.0 for other in before)
    if (item.events.first_wall_time or 0.0) < last_time:
        return False
    shared = set(item.events.scalars).intersection(*(set(other.events.scalars) for other in before[-1:]))
    return bool(shared) and item.first_step < NEW_RUN * max(other.last_step for other in before)


def _load(entry: Entry) -> _Loaded:
    from rlclinic.readers.formats.tensorboard.tfevents import EventFile, read_event_file

    try:
        events = parsed_once(read_event_file, entry)
    except OSError as error:
        events = EventFile({}, (), {}, None, None, 0, (f"cannot be read: {error.strerror}",))
    steps = [column.steps for column in events.scalars.values() if column.steps.size]
    first = min((int(column.min()) for column in steps), default=0)
    return _Loaded(entry, events, first, max((int(column.max()) for column in steps), default=0))


def _empty_reason(events: EventFile) -> str:
    if events.texts or events.hparams:
        return "holds hyperparameters but no scalar"
    return "holds no scalar: the run ended before its first log" if events.records else "holds no event"


def _started(entry: Entry) -> float:
    found = _STAMP.search(entry.name)
    return float(found.group(1)) if found else entry.modified
