"""Trackio's SQLite database: many runs in one file, read without writing to it."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count

import numpy as np

from rlclinic.model.numbers import number
from rlclinic.readers.columns import from_sparse
from rlclinic.readers.draft import Draft, RawTable, flatten
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.place import Entry
from rlclinic.readers.reading import parsed_once

SQLITE = b"SQLite format 3\x00"
# Names and messages of a damaged database may not even be text, and its lengths ask for more memory than there is.
DAMAGE = (sqlite3.Error, UnicodeDecodeError, MemoryError)
HEADER = 100
# Bytes of the pages that tell what the tables are, and of a whole database.
HEAD = 256 << 10
MAX_BYTES = 1 << 30
MAX_ROWS = 2_000_000
MAX_VALUE = 16 << 20
# Instructions of SQLite's machine between two counts; counts that are free, and bytes of the database for each more.
WORK, FREE_WORK, BYTES_PER_WORK = 100_000, 100, 10_000


def is_trackio(entry: Entry) -> bool:
    """Whether a file is a database with Trackio's tables, by its first pages: these hold the names of the tables."""
    try:
        with _open(entry, HEAD) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            columns = {row[1] for row in database.execute("PRAGMA table_info(metrics)")}
    except (*DAMAGE, OSError):
        return False
    return "metrics" in tables and {"run_name", "metrics"} <= columns


def members(entry: Entry) -> list[str]:
    """The names of the runs in a database, oldest first."""
    try:
        with _open(entry, MAX_BYTES) as database:
            return _names(database)
    except (*DAMAGE, OSError):
        return []


def read(draft: Draft) -> None:
    """Read one run of the database: the one that was asked for, else the last."""
    draft.source = "trackio"
    entry = next((entry for entry in draft.place.entries if parsed_once(is_trackio, entry)), None)
    if entry is None:
        return
    try:
        with _open(entry, MAX_BYTES) as database:
            names = _names(database)
            name = draft.name = draft.place.member or (names[-1] if names else "")
            if len(names) > 1 and not draft.place.member:
                draft.note(f"{entry.relative} holds {len(names)} runs; this is the last, {name}")
            _history(draft, entry, database, name)
            _config(draft, entry, database, name)
    except DAMAGE as error:
        draft.note(f"{entry.relative}: {error}")
    draft.used(entry, "trackio")


def _names(database: sqlite3.Connection) -> list[str]:
    rows = database.execute("SELECT run_name FROM metrics GROUP BY run_name ORDER BY MIN(rowid)")
    return [str(name) for (name,) in rows]


def _history(draft: Draft, entry: Entry, database: sqlite3.Connection, name: str) -> None:
    columns = {row[1] for row in database.execute("PRAGMA table_info(metrics)")}
    step = "step" if "step" in columns else "NULL"
    rows = database.execute(
        f"SELECT {step}, timestamp, metrics FROM metrics WHERE run_name = ? ORDER BY rowid LIMIT {MAX_ROWS}",
        (name,),
    ).fetchall()
    found: dict[str, tuple[list[int], list[float]]] = {}
    times = np.full(len(rows), np.nan)
    for index, (step_value, timestamp, text) in enumerate(rows):
        times[index] = _seconds(str(timestamp))
        at = index if step_value is None else number(step_value)
        values = {"step": math.nan if at is None else at, **_numbers(draft, entry, text)}
        for key, value in values.items():
            indices, numbers = found.setdefault(key, ([], []))
            indices.append(index)
            numbers.append(float(value))
    if not rows:
        draft.note(f"{entry.relative}: run {name} has no rows")
        return
    arrays = {key: (np.array(indices), np.array(numbers)) for key, (indices, numbers) in found.items()}
    draft.tables.append(RawTable(from_sparse(arrays, len(rows)), entry.relative, None, times))


def _numbers(draft: Draft, entry: Entry, text: object) -> dict[str, float]:
    try:
        data = load_json_data(_text(text))
    except FormatError as error:
        draft.note(f"{entry.relative}: a row is damaged ({error})")
        return {}
    return {
        "/".join(str(part) for part in path): float(value)
        for path, value in flatten(data)
        if isinstance(value, int | float)
    }


def _config(draft: Draft, entry: Entry, database: sqlite3.Connection, name: str) -> None:
    try:
        row = database.execute("SELECT config FROM configs WHERE run_name = ?", (name,)).fetchone()
    except DAMAGE:
        return
    if row is None:
        return
    try:
        data = load_json_data(_text(row[0]))
    except FormatError as error:
        draft.note(f"{entry.relative}: the config is damaged ({error})")
        return
    public = {key: value for key, value in data.items() if not key.startswith("_")} if isinstance(data, dict) else {}
    draft.document(public, entry.relative)


def _text(value: object) -> str:
    """JSON text; newer versions store it as bytes."""
    return decode(value) if isinstance(value, bytes) else str(value)


@contextmanager
def _open(entry: Entry, limit: int) -> Iterator[sqlite3.Connection]:
    """The database, or its first pages, in memory: SQLite itself would open it by name and write files beside it."""
    data = bytearray(entry.read(limit))
    if not data.startswith(SQLITE) or len(data) < HEADER:
        raise sqlite3.DatabaseError("this is no SQLite database")
    # The log of changes beside the file is not read, so the header must not send SQLite there.
    data[18:20] = b"\1\1"
    if len(data) < entry.size:
        size = int.from_bytes(data[16:18], "big")
        data[28:32] = (len(data) // (1 << 16 if size <= 1 else size)).to_bytes(4, "big")
    if not hasattr(sqlite3.Connection, "deserialize"):
        raise sqlite3.NotSupportedError("the SQLite of this Python cannot read from memory")
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data)
        database.text_factory = decode
        # A schema may compute: bounded in the size of a value and in work, which ends with an error of SQLite.
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        work, most = count(1), FREE_WORK + len(data) // BYTES_PER_WORK
        database.set_progress_handler(lambda: next(work) > most, WORK)
        yield database


def _seconds(timestamp: str) -> float:
    try:
        return (
            float(np.datetime64(timestamp.replace("Z", "").split("+")[0]).astype("datetime64[ms]").astype(float)) / 1e3
        )
    except ValueError:
        return float("nan")
