"""The index of runs: the summary of every run that was read, kept until its files change.

SQLite in WAL mode, so that several processes may read and write it at once. The index is a cache: where it
cannot be opened, runs are read afresh and nothing is lost.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rlclinic import __version__
from rlclinic.readers.discover import RunRef

# Raised whenever a summary would come out differently for the same files.
SUMMARY_VERSION = 2

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    name TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    summary TEXT NOT NULL
)
"""


def default_path() -> Path:
    """Where the index lies: RLCLINIC_INDEX, else the user's cache folder."""
    named = os.environ.get("RLCLINIC_INDEX")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "rlclinic" / "runs.sqlite"


class RunIndex:
    """Summaries by run, valid as long as the fingerprint of the run's files is the same."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lookup(self, refs: Iterable[RunRef]) -> dict[str, dict[str, Any]]:
        """The summaries that are still valid, by run name. A running run is never taken from the index."""
        wanted = {_key(ref): (ref.name, fingerprint(ref)) for ref in refs}
        try:
            with self._open() as database:
                rows = database.execute("SELECT name, fingerprint, summary FROM runs").fetchall()
        except (sqlite3.Error, OSError):
            return {}
        found: dict[str, dict[str, Any]] = {}
        for key, stored, text in rows:
            name, current = wanted.get(key, ("", ""))
            if name and stored == current and (summary := _summary(text)) is not None:
                found[name] = summary
        return found

    def store(self, summaries: Iterable[tuple[RunRef, Mapping[str, Any]]]) -> bool:
        """Remember summaries; False where the index cannot be written."""
        rows = [(_key(ref), fingerprint(ref), json.dumps(summary)) for ref, summary in summaries]
        try:
            with self._open() as database, database:
                database.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError):
            return False
        return True

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=10.0)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute(_SCHEMA)
            yield database


def fingerprint(ref: RunRef) -> str:
    """Changes whenever a file of the run or the reading code does."""
    digest = hashlib.blake2b(f"{__version__} {SUMMARY_VERSION} {ref.reader}".encode(), digest_size=16)
    for name, size, changed in ref.fingerprint:
        digest.update(f"{name}\0{size}\0{changed}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _summary(text: str) -> dict[str, Any] | None:
    """A stored summary; None where it is of a running run or damaged: that run is then read afresh."""
    try:
        summary: dict[str, Any] = json.loads(text)
        return summary if summary["status"] != "running" and "best" in summary["return"] else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _key(ref: RunRef) -> str:
    """A digest: the names of folders may hold secrets, or be no text."""
    place = f"{ref.path.absolute()}::{ref.member}".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(place, digest_size=16).hexdigest()
