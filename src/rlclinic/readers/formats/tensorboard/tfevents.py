"""TensorBoard event files (`events.out.tfevents.*`): scalars as columns, texts and hyperparameters.

Whatever the bytes are, the readable part is returned together with plain notes on what is missing; nothing is
executed and nothing but OSError is raised, and that only where a file is opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, replace

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.protobuf import WireError
from rlclinic.readers.formats.tensorboard.layout import event_layout
from rlclinic.readers.formats.tensorboard.records import RecordReader
from rlclinic.readers.formats.tensorboard.scalars import MAX_TAGS, ScalarColumn
from rlclinic.readers.formats.tensorboard.texts import TextEntry
from rlclinic.readers.formats.tensorboard.tfrecord import HEADER, batches, header_length
from rlclinic.readers.place import Entry

__all__ = ["EventFile", "ScalarColumn", "TextEntry", "is_tfevents", "read_event_file", "read_events"]

MAX_BYTES = 1 << 30  # of one file; event files of long runs have some hundred megabytes
_MAX_PROBLEMS = 20  # told one by one, the rest is counted
_EVENT_STARTS = (0x09, 0x1A)  # first byte of an event: key of wall_time, or of file_version


@dataclass(frozen=True, slots=True)
class EventFile:
    """What an event file holds. Columns and texts are in file order, tags in the order they first appear."""

    scalars: Mapping[str, ScalarColumn]
    texts: tuple[TextEntry, ...]
    hparams: Mapping[str, object]
    first_wall_time: float | None
    last_wall_time: float | None
    records: int
    problems: tuple[str, ...]


def read_events(data: bytes | bytearray | memoryview) -> EventFile:
    """Decode the bytes of an event file; both checksums of every record are verified."""
    data = bytes(data)
    problems = _Problems()
    reader = RecordReader(data, problems.note)
    for batch in batches(data, problems.note):
        reader.add(batch)
    columns = reader.scalars.columns()
    if reader.scalars.left_out:
        problems.note(f"more than {MAX_TAGS} tags: {reader.scalars.left_out} points of further tags left out")
    return EventFile(
        columns,
        tuple(reader.texts.texts),
        reader.texts.hparams,
        reader.first_wall_time,
        reader.last_wall_time,
        reader.records,
        problems.told(),
    )


def read_event_file(entry: Entry, *, max_bytes: int = MAX_BYTES) -> EventFile:
    """Decode the file as it is at this moment, which may still be growing; raises OSError only."""
    with entry.open() as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(min(size, max_bytes))
    events = read_events(data)
    if size <= max_bytes:
        return events
    note = f"file has {size} bytes, only the first {max_bytes} were read"
    return replace(events, problems=(note, *events.problems))


def is_tfevents(head: bytes) -> bool:
    """Whether a file that starts like this is an event file; 64 bytes are enough to tell."""
    length = header_length(head, 0)
    event = head[HEADER : HEADER + (length or 0)]
    if not length or not event:
        return False
    if len(event) < length:
        return event[0] in _EVENT_STARTS
    try:
        layout = event_layout(event)
    except WireError:
        return False
    return layout.has_version or layout.wall_time is not None


@dataclass(slots=True)
class _Problems:
    notes: list[str] = field(default_factory=list)
    more: int = 0

    def note(self, problem: str) -> None:
        if len(self.notes) < _MAX_PROBLEMS:
            self.notes.append(problem)
        else:
            self.more += 1

    def told(self) -> tuple[str, ...]:
        return (*self.notes, f"and {self.more} more problems") if self.more else tuple(self.notes)
