"""What is kept for the duration of one reading, so that every file of a run is opened and parsed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.no_links import open_file

if TYPE_CHECKING:
    from rlclinic.readers.place import Entry

T = TypeVar("T")

# Files that stay open meanwhile; systems allow a process 256 or more.
MOST_OPEN = 64


@dataclass(slots=True)
class _Reading:
    idle: dict[str, BinaryIO] = field(default_factory=dict)
    """Open files that nobody uses at the moment, by path."""
    found: dict[tuple[object, ...], Any] = field(default_factory=dict)


_CURRENT: ContextVar[_Reading | None] = ContextVar("reading", default=None)


@contextmanager
def one_reading() -> Iterator[None]:
    """Files and what was parsed are kept meanwhile; one reading inside another is part of it."""
    if _CURRENT.get() is not None:
        yield
        return
    reading = _Reading()
    before = _CURRENT.set(reading)
    try:
        yield
    finally:
        _CURRENT.reset(before)
        for file in reading.idle.values():
            file.close()


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A regular file by its real path, from its first byte; within a reading the one that is open already."""
    reading = _CURRENT.get()
    file = reading.idle.pop(path, None) if reading is not None else None
    if file is None:
        file = open_file(path)
    try:
        file.seek(0)
        yield file
    finally:
        if reading is None or file.closed or path in reading.idle or len(reading.idle) >= MOST_OPEN:
            file.close()
        else:
            reading.idle[path] = file


def parsed_once(parse: Callable[[Entry], T], entry: Entry) -> T:
    """What a parser makes of a file; within a reading it is asked once."""
    return kept((parse, entry.path), lambda: parse(entry))


def kept(key: tuple[object, ...], look: Callable[[], T]) -> T:
    """What a look at the disk found; within a reading there is one look for each key."""
    reading = _CURRENT.get()
    if reading is None:
        return look()
    if key not in reading.found:
        reading.found[key] = look()
    found: T = reading.found[key]
    return found
